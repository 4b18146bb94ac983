#include "envs/study/names.h"

namespace hone::study {
namespace {

constexpr std::string_view kFirstNames[] = {
    "Ada",  "Alma", "Anton", "Bela",  "Bren",  "Carl",  "Cora",  "Dora", "Edda",  "Egon",
    "Elsa", "Emil", "Fay",   "Felix", "Gerd",  "Greta", "Hanna", "Hugo", "Ida",   "Ines",
    "Ivo",  "Jana", "Joel",  "Juno",  "Karl",  "Kira",  "Lars",  "Lena", "Lotte", "Luca",
    "Mara", "Milo", "Nadia", "Nils",  "Nora",  "Olaf",  "Olga",  "Otto", "Paula", "Rafe",
    "Rita", "Rolf", "Sara",  "Sven",  "Tilda", "Tom",   "Vera",  "Willa"};
constexpr std::string_view kFamilyNames[] = {
    "Kell",  "Moss",    "Abt",    "Arden",  "Berg",  "Blum",  "Brandt", "Calder", "Corte", "Dahl",
    "Dorn",  "Drake",   "Eklund", "Faber",  "Finch", "Frost", "Gale",   "Grimm",  "Hale",  "Hartog",
    "Holt",  "Iversen", "Jansen", "Keller", "Kraus", "Lang",  "Lindt",  "Lowe",   "Marsh", "Meyer",
    "Nash",  "Norden",  "Orth",   "Palmer", "Pike",  "Quist", "Ramos",  "Reed",   "Rossi", "Sand",
    "Stark", "Stone",   "Thorn",  "Ueland", "Vance", "Vogel", "Weiss",  "Zander"};
constexpr std::string_view kTownKinds[] = {"Port", "New",   "Old",   "Upper", "Lower", "Saint",
                                           "Fort", "Mount", "North", "South", "East",  "West"};
constexpr std::string_view kTownNames[] = {
    "Ellis",  "Arlen",  "Barrow", "Bexley",   "Calvi",  "Corwen", "Darley",  "Denby",
    "Elmore", "Farley", "Garvan", "Halden",   "Harlow", "Ilford", "Jarrow",  "Kelso",
    "Kendal", "Larne",  "Lindow", "Lorca",    "Malden", "Merton", "Nairn",   "Norwick",
    "Oakham", "Orford", "Pelham", "Penrith",  "Quorn",  "Radley", "Ripley",  "Rodez",
    "Selby",  "Sorrel", "Tarbet", "Thirsk",   "Udine",  "Upton",  "Valmy",   "Varna",
    "Wexham", "Whitby", "Wick",   "Yarmouth", "Yeovil", "Zabar",  "Zutphen", "Ashby"};
constexpr std::string_view kRiverNames[] = {
    "Orin",  "Aven",  "Brisa", "Cald",  "Dove", "Esk",  "Fenna", "Gava",  "Helm",  "Isar",
    "Jura",  "Kama",  "Leven", "Mulde", "Neva", "Oder", "Pola",  "Quell", "Rhin",  "Saar",
    "Tamar", "Ural",  "Vilna", "Wye",   "Yare", "Zaan", "Arda",  "Bova",  "Cinca", "Drin",
    "Elde",  "Fulda", "Gera",  "Havel", "Ilm",  "Jade", "Kupa",  "Lech",  "Mino",  "Naab"};
constexpr std::string_view kRiverKinds[] = {"Water", "Brook", "Stream", "Creek", "Fork", "Beck"};
constexpr std::string_view kBookAdjectives[] = {
    "Silver", "Amber",  "Bitter",  "Black",   "Blue",   "Bright", "Broken", "Cold",
    "Dark",   "Deep",   "Distant", "Dry",     "Early",  "Empty",  "Fallen", "Faded",
    "Frozen", "Gentle", "Golden",  "Great",   "Green",  "Grey",   "Hidden", "Hollow",
    "Idle",   "Iron",   "Last",    "Late",    "Little", "Lonely", "Lean",   "Lost",
    "Narrow", "Open",   "Pale",    "Quiet",   "Red",    "Rough",  "Sharp",  "Secret",
    "Short",  "Slow",   "Soft",    "Strange", "Tall",   "Warm",   "White",  "Wild"};
constexpr std::string_view kBookNouns[] = {
    "Door",   "Anchor", "Apple",  "Bell",    "Bird",   "Boat",   "Bridge", "Candle",
    "Castle", "Clock",  "Cloud",  "Coat",    "Crown",  "Desert", "Dream",  "Feather",
    "Field",  "Fire",   "Flute",  "Forest",  "Garden", "Gate",   "Glove",  "Harbour",
    "Harp",   "House",  "Island", "Key",     "Lamp",   "Letter", "Mask",   "Mirror",
    "Moon",   "Night",  "Ocean",  "Orchard", "Road",   "Ring",   "Rope",   "Rose",
    "Shadow", "Ship",   "Snow",   "Song",    "Star",   "Storm",  "Tower",  "Winter"};
constexpr std::string_view kCompanyKinds[] = {"Mills",   "Press",  "Foundry",  "Trading",
                                              "Motors",  "Glass",  "Bank",     "Textiles",
                                              "Brewery", "Timber", "Shipping", "Paper"};
constexpr std::string_view kCountries[] = {"Doria",   "Velland", "Ostmark",   "Caldova",  "Elbia",
                                           "Farnia",  "Gondal",  "Hespia",    "Iskria",   "Juvenia",
                                           "Kaland",  "Lusatia", "Morvia",    "Norland",  "Ophir",
                                           "Pelagia", "Quivira", "Ruritania", "Sardovia", "Tavria"};
constexpr std::string_view kTrades[] = {
    "glazier", "baker",    "carpenter", "cooper",  "dyer",   "engraver", "farrier", "gardener",
    "hatter",  "jeweller", "lawyer",    "mason",   "nurse",  "painter",  "pilot",   "potter",
    "printer", "sailor",   "tailor",    "teacher", "tanner", "weaver",   "welder",  "surgeon"};

}  // namespace

Words FirstNames() { return kFirstNames; }
Words FamilyNames() { return kFamilyNames; }
Words TownKinds() { return kTownKinds; }
Words TownNames() { return kTownNames; }
Words RiverNames() { return kRiverNames; }
Words RiverKinds() { return kRiverKinds; }
Words BookAdjectives() { return kBookAdjectives; }
Words BookNouns() { return kBookNouns; }
Words CompanyKinds() { return kCompanyKinds; }
Words Countries() { return kCountries; }
Words Trades() { return kTrades; }

}  // namespace hone::study
