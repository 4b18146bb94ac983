# Log-rank tests of pairs of runs by R's survival package, for evaluate/log_rank_test.cpp:
#     apt-get install r-cran-survival && Rscript make.R > r.jsonl
# p: the share of all ways of swapping the two runs of pairs for which survdiff's observed - expected is as far from 0.
suppressMessages(library(survival))

cases <- list(
  all_arrive = list(a = c(10, 12, 9, 15, 11), a_in = rep(1, 5), b = c(14, 13, 20, 18, 10), b_in = rep(1, 5)),
  some_never = list(a = c(6400, 12800, 38400, 9500, 22000), a_in = c(1, 1, 0, 1, 1),
                    b = c(38400, 25000, 38400, 31000, 38400), b_in = c(0, 1, 0, 1, 0)),
  one_never_arrives = list(a = c(320, 344, 512, 700, 801, 420, 390, 1000), a_in = rep(1, 8),
                           b = rep(16384, 8), b_in = rep(0, 8)),
  ties = list(a = c(5, 5, 7, 7, 9, 9), a_in = c(1, 1, 1, 0, 1, 0), b = c(5, 7, 7, 9, 9, 12), b_in = c(1, 1, 0, 1, 1, 0)),
  censored_when_others_arrive = list(a = c(10, 20, 30, 30), a_in = c(1, 0, 1, 0), b = c(10, 20, 20, 30), b_in = c(0, 1, 1, 1)),
  watched_for_different_times = list(a = c(3, 8, 2.5, 40, 17, 6), a_in = c(1, 0, 1, 1, 0, 1),
                                     b = c(4, 9, 30, 12, 60, 5), b_in = c(0, 1, 0, 1, 1, 1)))

test <- function(time, status, arm) survdiff(Surv(time, status) ~ arm)
numbers <- function(x) paste0("[", paste(format(x, digits = 17, trim = TRUE), collapse = ","), "]")

for (name in names(cases)) {
  one <- cases[[name]]
  n <- length(one$a)
  time <- c(one$a, one$b)
  status <- c(one$a_in, one$b_in)
  whole <- test(time, status, rep(0:1, each = n))
  far <- abs(whole$obs[1] - whole$exp[1])
  as_far <- 0
  for (swaps in 0:(2^n - 1)) {
    swapped <- bitwAnd(swaps, bitwShiftL(1, 0:(n - 1))) > 0
    arm <- c(ifelse(swapped, 1, 0), ifelse(swapped, 0, 1))
    some <- test(time, status, arm)
    if (abs(some$obs[1] - some$exp[1]) >= far - 1e-9) as_far <- as_far + 1
  }
  cat(sprintf(paste0('{"name":"%s","a":%s,"a_arrived":%s,"b":%s,"b_arrived":%s,"observed":%.17g,"expected":%.17g,',
                     '"variance":%.17g,"chi_square":%.17g,"swaps":%d,"p":%.17g}\n'),
              name, numbers(one$a), numbers(one$a_in), numbers(one$b), numbers(one$b_in), whole$obs[1], whole$exp[1],
              whole$var[1, 1], whole$chisq, as.integer(2^n), as_far / 2^n))
}
