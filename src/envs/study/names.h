#pragma once

#include <span>
#include <string_view>

namespace hone::study {

// The words that names are made of. Each is one token of a tokenizer that has read a few thousand
// documents, so that a small model copies tokens that it knows in combinations that it has not
// seen. No word stands in two of the lists.

using Words = std::span<const std::string_view>;

Words FirstNames();      // "Ada" Kell
Words FamilyNames();     // Ada "Kell", "Kell" Mills
Words TownKinds();       // "Port" Ellis
Words TownNames();       // Port "Ellis"
Words RiverNames();      // "Orin" Water
Words RiverKinds();      // Orin "Water"
Words BookAdjectives();  // "Silver" Door
Words BookNouns();       // Silver "Door"
Words CompanyKinds();    // Kell "Mills"
Words Countries();       // one word each
Words Trades();          // not names, but of the same sort

}  // namespace hone::study
