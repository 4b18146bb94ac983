#include "app/cli.h"

int main(int argc, char** argv) { return hone::RunCli(argc, argv); }
