#include "records/job_json.h"
#include "records/outcome_json.h"
#include "store/encoding.h"
#include "store/writes.h"

namespace fusefarm::store {
namespace {

Result<void> expect_one_change(Database& database, ExperimentId id) {
  if (TRY(database.integer("SELECT changes()")) == 1) {
    return {};
  }
  return Error{ErrorCode::kInternal,
               "experiment " + std::to_string(id.value) + " ended but is not one that runs"};
}

void bind_interval(Statement& statement, const std::optional<Interval>& interval) {
  if (interval) {
    statement.bind(interval->estimate).bind(interval->lo).bind(interval->hi);
  } else {
    statement.bind_null().bind_null().bind_null();
  }
}

struct Finish {
  Verdict verdict;
  std::string causal_label;
  std::optional<Interval> screen, confirmation;
  std::string result;
  std::int64_t now_ms = 0;
};

Result<void> finish(Database& database, ExperimentId id, const Finish& with) {
  {
    Statement update = TRY(database.prepare(
        "UPDATE experiment SET state = 'done', verdict = ?, reason = ?, detail = ?,"
        " rule_version = ?, causal_label = ?, infrastructure = ?, screen_estimate = ?,"
        " screen_lo = ?, screen_hi = ?, confirm_estimate = ?, confirm_lo = ?, confirm_hi = ?,"
        " result = ?, ended_ms = ? WHERE id = ? AND state = 'started'"));
    update.bind(to_string(with.verdict.klass))
        .bind(with.verdict.reason)
        .bind(with.verdict.detail)
        .bind(std::int64_t{with.verdict.rule_version})
        .bind(with.causal_label)
        .bind(std::int64_t{is_infrastructure(with.verdict.klass)});
    bind_interval(update, with.screen);
    bind_interval(update, with.confirmation);
    TRY(update.bind(with.result).bind(with.now_ms).bind(number_of(id.value)).run());
  }
  return expect_one_change(database, id);
}

Result<void> insert_start(Database& database, const ExperimentStart& start, std::int64_t now_ms) {
  const ExperimentKey& key = start.key;
  return TRY(database.prepare("INSERT INTO experiment(id, campaign, phase, kind, state, region,"
                              " workload, shape, candidate, incumbent, device_class, toolchain,"
                              " protocol, started_ms) VALUES(?,?,?,?,'started',?,?,?,?,?,?,?,?,?)"))
      .bind(number_of(start.id.value))
      .bind(number_of(start.campaign.value))
      .bind(std::int64_t{start.phase})
      .bind(to_string(key.kind))
      .bind(key.region)
      .bind(key.workload.name)
      .bind(shape_key(key.workload))
      .bind(key.candidate)
      .bind(key.incumbent)
      .bind(key.device_class)
      .bind(key.toolchain)
      .bind(key.protocol)
      .bind(now_ms)
      .run();
}

}  // namespace

Writer::Write insert_experiments(std::vector<ExperimentStart> starts, std::int64_t now_ms) {
  return [=](Database& database) -> Result<void> {
    for (const ExperimentStart& start : starts) {
      TRY(insert_start(database, start, now_ms));
    }
    return {};
  };
}

Writer::Write update_outcome(ExperimentId id, Outcome outcome, std::int64_t now_ms) {
  std::vector<PairedMeasurement> samples = std::move(outcome.measurements);
  outcome.measurements.clear();
  return [id, samples = std::move(samples), workload = outcome.workload,
          with = Finish{outcome.verdict, outcome.causal_label, outcome.screen, outcome.confirmation,
                        to_json(outcome), now_ms}](Database& database) -> Result<void> {
    TRY(finish(database, id, with));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      TRY(insert_samples(database, id, static_cast<std::int64_t>(i), workload, samples[i]));
    }
    return {};
  };
}

Writer::Write update_integration(ExperimentId id, IntegrationResult result, std::int64_t now_ms) {
  std::vector<std::pair<std::string, PairedMeasurement>> samples;
  for (WorkloadIntegration& workload : result.workloads) {
    samples.emplace_back(workload.workload, std::move(workload.measurement));
    workload.measurement = {};
  }
  return [id, samples = std::move(samples),
          with = Finish{result.verdict, "", std::nullopt, result.combined, to_json(result),
                        now_ms}](Database& database) -> Result<void> {
    TRY(finish(database, id, with));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      TRY(insert_samples(database, id, static_cast<std::int64_t>(i), samples[i].first,
                         samples[i].second));
    }
    return {};
  };
}

Writer::Write update_abandoned(ExperimentId id, std::string reason, std::int64_t now_ms) {
  return [=](Database& database) -> Result<void> {
    TRY(TRY(database.prepare("UPDATE experiment SET state = 'abandoned', reason = ?, ended_ms = ?"
                             " WHERE id = ? AND state = 'started'"))
            .bind(reason)
            .bind(now_ms)
            .bind(number_of(id.value))
            .run());
    return expect_one_change(database, id);
  };
}

Writer::Write insert_reuse(ExperimentId id, CampaignId campaign, int phase, ExperimentId source,
                           std::int64_t now_ms) {
  return [=](Database& database) -> Result<void> {
    return TRY(database.prepare(
                   "INSERT INTO experiment(id, campaign, phase, kind, state, region, workload,"
                   " shape, candidate, incumbent, device_class, toolchain, protocol, source,"
                   " started_ms, ended_ms)"
                   " SELECT ?1, ?2, ?3, kind, 'reused', region, workload, shape, candidate,"
                   " incumbent, device_class, toolchain, protocol, id, ?5, ?5 FROM experiment"
                   " WHERE id = ?4 AND campaign <> ?2 AND state = 'done' ON CONFLICT DO NOTHING"))
        .bind(number_of(id.value))
        .bind(number_of(campaign.value))
        .bind(std::int64_t{phase})
        .bind(number_of(source.value))
        .bind(now_ms)
        .run();
  };
}

}  // namespace fusefarm::store
