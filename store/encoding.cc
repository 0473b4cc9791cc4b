#include "store/encoding.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "store/samples.h"

namespace fusefarm::store {

std::string shape_key(const Workload& workload) {
  return std::string(fusefarm::to_string(workload.phase)) + " b" + std::to_string(workload.batch) +
         " c" + std::to_string(workload.context) + " t" + std::to_string(workload.tokens);
}

void check_json(const std::string& json, const char* what) {
  FUSEFARM_CHECK(nlohmann::json::accept(json), std::string(what) + ": " + json.substr(0, 200));
}

std::string texts_to_json(const std::vector<std::string>& texts) {
  return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::vector<std::string>> texts_from_json(const std::string& json) {
  try {
    return nlohmann::json::parse(json).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    return Error{ErrorCode::kIntegrity, std::string("a list of texts: ") + error.what()};
  }
}

Error damaged_row(const Database& database, const std::string& what, const Error& error) {
  return Error{ErrorCode::kIntegrity,
               "history database " + database.path() + ": " + what + ": " + error.message};
}

Result<void> insert_samples(Database& database, ExperimentId id, std::int64_t ordinal,
                            const std::string& workload, const PairedMeasurement& measurement) {
  Statement insert = TRY(database.prepare(
      "INSERT INTO measurement(experiment, ordinal, stage, workload, samples) VALUES(?,?,?,?,?)"));
  return insert.bind(number_of(id.value))
      .bind(ordinal)
      .bind(measurement.stage)
      .bind(workload)
      .bind_blob(pack_samples(measurement))
      .run();
}

Result<std::vector<PairedMeasurement>> select_samples(Database& database, ExperimentId id) {
  Statement select = TRY(database.prepare(
      "SELECT stage, samples FROM measurement WHERE experiment = ? ORDER BY ordinal"));
  select.bind(number_of(id.value));
  std::vector<PairedMeasurement> out;
  while (TRY(select.step())) {
    Result<PairedMeasurement> measurement = unpack_samples(select.text(1), select.text(0));
    if (!measurement.ok()) {
      return damaged_row(database, "experiment " + std::to_string(id.value), measurement.error());
    }
    out.push_back(measurement.take());
  }
  return out;
}

}  // namespace fusefarm::store
