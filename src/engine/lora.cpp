#include "engine/lora.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/strings.h"
#include "engine/safetensors.h"

namespace hone {
namespace {

constexpr char kConfigFile[] = "adapter_config.json", kWeightsFile[] = "adapter_model.safetensors";
constexpr char kPeftPrefix[] = "base_model.model.";

constexpr std::array<std::pair<const char*, int LayerParameters::*>, 7> kProjections = {
    {{"q_proj", &LayerParameters::q},
     {"k_proj", &LayerParameters::k},
     {"v_proj", &LayerParameters::v},
     {"o_proj", &LayerParameters::output},
     {"gate_proj", &LayerParameters::gate},
     {"up_proj", &LayerParameters::up},
     {"down_proj", &LayerParameters::down}}};

// "model.layers.0.self_attn.q_proj" of "model.layers.0.self_attn.q_proj.weight".
std::string ModuleName(const Parameter& parameter) {
  return parameter.name.substr(0, parameter.name.size() - std::string_view(".weight").size());
}

void AddModule(int target, int64_t rank, float scale, Model* model) {
  const std::string module = ModuleName(model->parameters[target]);
  const std::vector<int64_t> shape = model->parameters[target].shape;
  auto add = [&](const char* part, std::vector<int64_t> size) {
    Parameter parameter{fmt::format("{}.{}.weight", module, part), std::move(size), {}};
    parameter.value.assign(static_cast<size_t>(parameter.shape[0] * parameter.shape[1]), 0.0f);
    model->parameters.push_back(std::move(parameter));
    return static_cast<int>(model->parameters.size()) - 1;
  };
  LoraModule lora{.target = target, .rank = rank, .scale = scale};
  lora.a = add("lora_A", {rank, shape[1]});
  lora.b = add("lora_B", {shape[0], rank});
  model->lora.push_back(lora);
}

Result<std::set<std::string>> ProjectionsOf(const std::vector<std::string>& targets) {
  std::set<std::string> names;
  for (const std::string& target : targets) {
    const bool all = target == "all" || target == "all-linear";
    bool found = all;
    for (const auto& [name, member] : kProjections) {
      if (all || target == name) {
        names.insert(name);
        found = true;
      }
    }
    if (!found) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("\"{}\" is no projection; these are: q_proj, k_proj, v_proj, o_proj, "
                      "gate_proj, up_proj, down_proj, all",
                      target));
    }
  }
  return names;
}

Result<void> AddModules(const std::vector<std::string>& targets, int64_t rank, float scale,
                        Model* model) {
  if (!model->lora.empty()) {
    return Error(ErrorCode::kInvalidArgument, "the model has adapters already; merge them first");
  }
  HONE_ASSIGN_OR_RETURN(const std::set<std::string> names, ProjectionsOf(targets));
  for (Parameter& parameter : model->parameters) parameter.trained = false;
  // A head for values is not part of the base: it learns with the adapters.
  if (model->scalar_head >= 0) model->parameters[model->scalar_head].trained = true;
  for (const LayerParameters& layer : model->layers) {
    for (const auto& [name, member] : kProjections) {
      if (names.contains(name) && layer.*member >= 0) {
        AddModule(layer.*member, rank, scale, model);
      }
    }
  }
  if (model->lora.empty()) {
    return Error(ErrorCode::kUnsupported,
                 "no layer has such a projection: experts take no adapters; name q_proj, k_proj, "
                 "v_proj or o_proj");
  }
  return {};
}

// A number or flag of adapter_config.json; the fallback when it is absent or null.
double NumberOf(const Json& config, const char* key, double fallback) {
  const Json* value = config.Find(key);
  return value != nullptr && value->is_number() ? value->AsDouble() : fallback;
}
bool FlagOf(const Json& config, const char* key) {
  const Json* value = config.Find(key);
  return value != nullptr && value->is_bool() && value->AsBool();
}

Result<void> CheckSupported(const Json& config) {
  auto unsupported = [](const std::string& what) {
    return Error(ErrorCode::kUnsupported, what + " is not supported");
  };
  if (const Json* type = config.Find("peft_type"); type == nullptr || *type != Json("LORA")) {
    return unsupported("an adapter whose peft_type is not LORA");
  }
  for (const char* flag : {"use_dora", "fan_in_fan_out", "use_qalora", "use_rslora"}) {
    const Json* value = config.Find(flag);
    if (value != nullptr && !value->is_null() && !value->is_bool()) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("{} must be true or false", flag));
    }
    if (std::string_view(flag) != "use_rslora" && FlagOf(config, flag)) return unsupported(flag);
  }
  // Others subtract what they begin with from the weights, which then are not the base model's.
  constexpr std::array<std::string_view, 3> kBeginnings = {"gaussian", "eva", "orthogonal"};
  const Json* begin = config.Find("init_lora_weights");
  if (begin != nullptr && begin->is_string() && !IsOneOf(begin->AsString(), kBeginnings)) {
    return unsupported(fmt::format("init_lora_weights \"{}\"", begin->AsString()));
  }
  const Json* alpha = config.Find("lora_alpha");
  if (alpha != nullptr && !alpha->is_number()) {
    return Error(ErrorCode::kInvalidArgument, "lora_alpha must be a number");
  }
  for (const char* key : {"rank_pattern", "alpha_pattern"}) {
    const Json* value = config.Find(key);
    if (value != nullptr && value->is_object() && !value->AsObject().empty()) {
      return unsupported(key);
    }
  }
  const Json* bias = config.Find("bias");
  if (bias != nullptr && *bias != Json("none")) return unsupported("bias other than \"none\"");
  for (const char* key : {"modules_to_save", "layers_to_transform", "alora_invocation_tokens"}) {
    const Json* value = config.Find(key);
    if (value != nullptr && !value->is_null()) return unsupported(key);
  }
  return {};
}

}  // namespace

Result<void> AddLora(const LoraOptions& options, Model* model) {
  if (options.rank < 1) return Error(ErrorCode::kInvalidArgument, "the rank must be at least 1");
  const auto scale = static_cast<float>(options.alpha / static_cast<double>(options.rank));
  HONE_RETURN_IF_ERROR(AddModules(options.targets, options.rank, scale, model));
  const Rng root = Rng(options.seed).Split("lora");
  for (const LoraModule& module : model->lora) {
    Parameter& a = model->parameters[module.a];
    Rng rng = root.Split(a.name);
    const double reach = 1 / std::sqrt(static_cast<double>(a.shape[1]));
    for (float& value : a.value) value = static_cast<float>((2 * rng.NextDouble() - 1) * reach);
  }
  return {};
}

Result<void> LoadLora(const std::filesystem::path& folder, Model* model) {
  const auto config_path = folder / kConfigFile;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(config_path));
  Result<Json> config = ParseJson(text);
  if (!config.ok()) return config.error().In(config_path.string());
  if (Result<void> supported = CheckSupported(*config); !supported.ok()) {
    return supported.error().In(config_path.string());
  }
  const double rank = NumberOf(*config, "r", 0), alpha = NumberOf(*config, "lora_alpha", 8);
  if (!(rank >= 1 && rank <= 65536) || rank != std::floor(rank)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: r must be a whole number from 1 on", config_path.string()));
  }
  const double divisor = FlagOf(*config, "use_rslora") ? std::sqrt(rank) : rank;
  std::vector<std::string> targets;
  if (const Json* names = config->Find("target_modules"); names != nullptr) {
    if (names->is_string()) targets.push_back(names->AsString());
    if (names->is_array()) {
      for (const Json& name : names->AsArray()) {
        if (name.is_string()) targets.push_back(name.AsString());
      }
    }
  }
  if (targets.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: target_modules names no projection", config_path.string()));
  }
  if (Result<void> added = AddModules(targets, static_cast<int64_t>(rank),
                                      static_cast<float>(alpha / divisor), model);
      !added.ok()) {
    return added.error().In(config_path.string());
  }
  HONE_ASSIGN_OR_RETURN(Adapters read, ReadAdapters(folder, *model));
  SwapAdapters(&read, model);
  return {};
}

Adapters AdaptersOf(const Model& model) {
  Adapters adapters;
  for (const LoraModule& module : model.lora) {
    for (const int index : {module.a, module.b}) {
      adapters.push_back(model.parameters[index].value);
    }
  }
  return adapters;
}

void SwapAdapters(Adapters* adapters, Model* model) {
  CHECK(adapters->size() == 2 * model->lora.size(), "the adapters of another model");
  size_t i = 0;
  for (const LoraModule& module : model->lora) {
    for (const int index : {module.a, module.b}) {
      std::swap((*adapters)[i++], model->parameters[index].value);
    }
  }
}

Result<Adapters> ReadAdapters(const std::filesystem::path& folder, const Model& model) {
  const auto weights_path = folder / kWeightsFile;
  HONE_ASSIGN_OR_RETURN(const SafetensorsFile file, SafetensorsFile::Open(weights_path));
  std::set<std::string> used;
  Adapters adapters;
  for (const LoraModule& module : model.lora) {
    for (const int index : {module.a, module.b}) {
      const Parameter& parameter = model.parameters[index];
      const std::string name = kPeftPrefix + parameter.name;
      const TensorView* view = file.Find(name);
      const bool whole_numbers =
          view != nullptr && (view->dtype == DType::kI32 || view->dtype == DType::kI64);
      if (view == nullptr || view->shape != parameter.shape || whole_numbers) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}: tensor {} {}", weights_path.string(), name,
                                 view == nullptr ? "is missing"
                                 : whole_numbers ? "is not of a floating type"
                                                 : "is of another shape"));
      }
      std::vector<float>& value = adapters.emplace_back(parameter.value.size());
      CopyAsF32(*view, value);
      if (!std::all_of(value.begin(), value.end(), [](float x) { return std::isfinite(x); })) {
        return Error(ErrorCode::kCorrupt, fmt::format("{}: tensor {} holds a number that is not "
                                                      "finite",
                                                      weights_path.string(), name));
      }
      used.insert(name);
    }
  }
  for (const auto& [name, view] : file.tensors()) {
    if (!used.contains(name)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: tensor {} belongs to no projection of this model",
                               weights_path.string(), name));
    }
  }
  return adapters;
}

Result<Model> LoadModelWithAdapters(const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(Model model, LoadModel(folder));
  if (Exists(folder / kAdapterFolder)) {
    HONE_RETURN_IF_ERROR(LoadLora(folder / kAdapterFolder, &model));
  }
  return model;
}

Result<void> SaveLora(const Model& model, const std::string& base,
                      const std::filesystem::path& folder) {
  CHECK(!model.lora.empty(), "a model without adapters");
  std::map<std::string, TensorView> tensors;
  std::set<std::string> targets;
  for (const LoraModule& module : model.lora) {
    for (const int index : {module.a, module.b}) {
      const Parameter& parameter = model.parameters[index];
      tensors.emplace(
          kPeftPrefix + parameter.name,
          TensorView{DType::kF32, parameter.shape, std::as_bytes(std::span(parameter.value))});
    }
    const std::string name = ModuleName(model.parameters[module.target]);
    targets.insert(name.substr(name.rfind('.') + 1));
  }
  Json::Array names;
  for (const std::string& name : targets) names.push_back(name);
  const LoraModule& first = model.lora[0];
  const Json config =
      Json::Of({{"base_model_name_or_path", base},
                {"bias", "none"},
                {"fan_in_fan_out", false},
                {"inference_mode", true},
                {"lora_alpha", static_cast<double>(first.scale) * static_cast<double>(first.rank)},
                {"lora_dropout", 0.0},
                {"peft_type", "LORA"},
                {"r", first.rank},
                {"target_modules", std::move(names)},
                {"task_type", "CAUSAL_LM"},
                {"use_dora", false},
                {"use_rslora", false}});
  HONE_RETURN_IF_ERROR(WriteSafetensors(folder / kWeightsFile, tensors, {{"format", "pt"}}));
  return WriteFileAtomic(folder / kConfigFile, DumpJson(config, JsonStyle::kPretty) + "\n");
}

void MergeLora(Model* model) {
  size_t first = model->parameters.size();
  for (const LoraModule& module : model->lora) {
    Parameter& weight = model->parameters[module.target];
    const Parameter &a = model->parameters[module.a], &b = model->parameters[module.b];
    const int64_t inputs = weight.shape[1];
    for (int64_t o = 0; o < weight.shape[0]; ++o) {
      for (int64_t r = 0; r < module.rank; ++r) {
        const float factor = module.scale * b.value[static_cast<size_t>(o * module.rank + r)];
        for (int64_t i = 0; i < inputs; ++i) {
          weight.value[static_cast<size_t>(o * inputs + i)] +=
              factor * a.value[static_cast<size_t>(r * inputs + i)];
        }
      }
    }
    first = std::min({first, static_cast<size_t>(module.a), static_cast<size_t>(module.b)});
  }
  if (model->lora.empty()) return;
  model->parameters.resize(first);  // adapters are behind everything else
  model->lora.clear();
  for (Parameter& parameter : model->parameters) parameter.trained = true;
}

}  // namespace hone
