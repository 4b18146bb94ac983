"""What is worth what: the right answer, and no more calls than it takes."""
import hone


@hone.reward
def score(task, trajectory):
    right = trajectory.answer is not None and trajectory.answer.strip() == task.answer
    return (1.0 if right else 0.0) - 0.05 * max(0, len(trajectory.calls) - 2)


hone.run()
