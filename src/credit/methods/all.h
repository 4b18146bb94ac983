#pragma once

#include "credit/method.h"
#include "credit/method_options.h"

// Every method's maker, one small file each; methods.cpp lists them. A maker asks the options for
// its settings and returns the method without its name.

namespace hone::methods {

Method Reinforce(MethodOptions* options);
Method Grpo(MethodOptions* options);
Method DrGrpo(MethodOptions* options);
Method Rloo(MethodOptions* options);
Method Loop(MethodOptions* options);
Method LitePpo(MethodOptions* options);
Method Opo(MethodOptions* options);
Method Gpg(MethodOptions* options);
Method PassAtK(MethodOptions* options);
Method EntropyMask(MethodOptions* options);
Method ToolOrchestra(MethodOptions* options);
Method Dapo(MethodOptions* options);
Method Tapo(MethodOptions* options);
Method StarPoS(MethodOptions* options);
Method SimpleTir(MethodOptions* options);
Method ReinforcePlusPlus(MethodOptions* options);
Method ReinforcePlusPlusBaseline(MethodOptions* options);
Method ReMax(MethodOptions* options);
Method Otb(MethodOptions* options);
Method GaeToken(MethodOptions* options);
Method GaeTurn(MethodOptions* options);
Method GaeTwoLevel(MethodOptions* options);
Method TurnPpo(MethodOptions* options);
Method StepTool(MethodOptions* options);
Method TurnLeaveOneOut(MethodOptions* options);
Method ToolPoSiblings(MethodOptions* options);
Method ToolPo(MethodOptions* options);
Method ToolPoPerCall(MethodOptions* options);
Method ToolPoSplit(MethodOptions* options);
Method Smeared(MethodOptions* options);
Method Placebo(MethodOptions* options);
Method ArpoSoft(MethodOptions* options);
Method ArpoHard(MethodOptions* options);
Method PorTool(MethodOptions* options);
Method ForkRelative(MethodOptions* options);
Method TreeRl(MethodOptions* options);
Method TreeGrpo(MethodOptions* options);
Method OtcPpo(MethodOptions* options);
Method OtcGrpo(MethodOptions* options);
Method Hdpo(MethodOptions* options);
Method Aspo(MethodOptions* options);
Method AdaTir(MethodOptions* options);
Method Spear(MethodOptions* options);
Method SpearReplay(MethodOptions* options);
Method GiGpo(MethodOptions* options);
Method MtGrpo(MethodOptions* options);
Method Igpo(MethodOptions* options);
Method StepSearch(MethodOptions* options);
Method Gdpo(MethodOptions* options);
Method Awpo(MethodOptions* options);
Method Cm2Trajectory(MethodOptions* options);
Method Cm2Turn(MethodOptions* options);
Method Cm2Step(MethodOptions* options);

}  // namespace hone::methods
