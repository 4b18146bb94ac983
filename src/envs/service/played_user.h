#pragma once

#include "base/json.h"
#include "envs/service/shop.h"
#include "envs/service/user.h"

namespace hone::service {

// What somebody who plays the customer is told, as the tool `user` takes it: the goal in words,
// when to leave, what it is about ("values"), what it is not about but is to be had in this shop
// ("alternatives"), what shows that each further wish was spoken of ("wishes"), and whether all of
// it has come about ("met").
Json PlayedScript(const Script& script, const Shop& shop, bool met);

}  // namespace hone::service
