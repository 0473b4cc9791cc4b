// Between rows of the database and values. Internal to store.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/workload.h"
#include "store/database.h"
#include "store/rows.h"

namespace fusefarm::store {

inline std::int64_t number_of(std::uint64_t id) { return static_cast<std::int64_t>(id); }

template <class Tag>
Id<Tag> id_of(std::int64_t number) {
  return Id<Tag>{static_cast<std::uint64_t>(number)};
}

// What of a workload tells two experiments apart, e.g. "decode b8 c256 t8".
std::string shape_key(const Workload& workload);

// Stops the program unless `json` is one JSON text: callers make it, so another is a bug. (No CHECK
// of the schema can do it: with trusted_schema=OFF SQLite refuses json_valid() there.)
void check_json(const std::string& json, const char* what);

// A list of texts as a JSON array.
std::string texts_to_json(const std::vector<std::string>& texts);
Result<std::vector<std::string>> texts_from_json(const std::string& json);

// Stored data contradicts itself.
Error damaged_row(const Database& database, const std::string& what, const Error& error);

// Appends the raw samples of one experiment, and reads them back by ordinal.
Result<void> insert_samples(Database& database, ExperimentId id, std::int64_t ordinal,
                            const std::string& workload, const PairedMeasurement& measurement);
Result<std::vector<PairedMeasurement>> select_samples(Database& database, ExperimentId id);

}  // namespace fusefarm::store
