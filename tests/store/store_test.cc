#include "store/store.h"

#include <gtest/gtest.h>

#include "records/outcome_json.h"
#include "tests/store/store_fixture.h"

namespace fusefarm::store {
namespace {

Digest spec_hash() { return digest_of("spec"); }

// A campaign with one finished screen of candidate 1.
struct Seeded {
  CampaignId campaign;
  ExperimentId experiment;
};

Seeded seed(Store& store, VerdictClass klass = VerdictClass::kNoGain,
            const std::string& name = "c") {
  const CampaignId campaign =
      must(store.begin_or_resume_campaign(sample_spec(name), spec_hash())).id;
  const Candidate candidate = numbered_candidate(1);
  must(store.save_candidate(candidate));
  const ExperimentId id = must(store.start_experiment(campaign, 1, sample_key(candidate)));
  must(store.finish_experiment(id, sample_outcome(candidate, klass)));
  must(store.flush());
  return {campaign, id};
}

TEST_F(StoreTest, ANewCampaignRunsAndIsFoundAgainByNameAndSpecification) {
  const auto store = open();
  const CampaignRow first = must(store->begin_or_resume_campaign(sample_spec(), spec_hash()));
  EXPECT_EQ(first.state, CampaignState::kRunning);
  EXPECT_EQ(first.runs, 1);
  const CampaignRow again = must(store->begin_or_resume_campaign(sample_spec(), spec_hash()));
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.runs, 2);
  const CampaignRow other = must(store->begin_or_resume_campaign(sample_spec(), digest_of("x")));
  EXPECT_NE(other.id, first.id);
  const History* history = must(store->read());
  EXPECT_EQ(must(history->campaigns()).size(), 2U);
  EXPECT_EQ(must(history->campaign_spec(first.id))->workloads, sample_spec().workloads);
}

TEST_F(StoreTest, AFinishedCampaignIsReturnedWithItsReportAndNotTakenUp) {
  const auto store = open();
  const CampaignId id = must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
  must(store->end_campaign(id, CampaignState::kFinished, "improved", R"({"a":1})"));
  const CampaignRow row = must(store->begin_or_resume_campaign(sample_spec(), spec_hash()));
  EXPECT_EQ(row.id, id);
  EXPECT_EQ(row.state, CampaignState::kFinished);
  EXPECT_EQ(row.runs, 1);
  EXPECT_EQ(row.result, "improved");
  EXPECT_EQ(row.report, R"({"a":1})");
  EXPECT_GT(row.ended_ms, row.started_ms);
}

TEST_F(StoreTest, AnOutcomeComesBackWithItsRawSamples) {
  const auto store = open();
  const Seeded seeded = seed(*store);
  const History* history = must(store->read());
  const std::optional<Outcome> outcome = must(history->outcome(seeded.experiment));
  ASSERT_TRUE(outcome.has_value());
  Outcome expected = sample_outcome(numbered_candidate(1));
  expected.experiment = seeded.experiment;
  EXPECT_EQ(to_json(*outcome), to_json(expected));
}

TEST_F(StoreTest, TheSameExperimentIsFoundWhicheverCampaignAsks) {
  const auto store = open();
  const Seeded seeded = seed(*store);
  ExperimentKey key = sample_key(numbered_candidate(1));
  key.workload.name = "another name";
  key.workload.weight = 0.5;
  const auto found = must(must(store->read())->find_outcome(key));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->experiment, seeded.experiment);
  EXPECT_EQ(found->outcome.workload, "another name");
  EXPECT_EQ(found->outcome.measurements.size(), 2U);
}

TEST_F(StoreTest, EveryPartOfTheKeyTellsExperimentsApart) {
  const auto store = open();
  seed(*store);
  const History* history = must(store->read());
  const auto finds = [&](auto change) {
    ExperimentKey key = sample_key(numbered_candidate(1));
    change(key);
    return must(history->find_outcome(key)).has_value();
  };
  EXPECT_TRUE(finds([](ExperimentKey&) {}));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.kind = ExperimentKind::kConfirm; }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.region = digest_of("x"); }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.workload.batch = 9; }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.workload.context = 9; }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.workload.tokens = 9; }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.workload.phase = graph::Phase::kPrefill; }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.candidate = digest_of("x"); }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.incumbent = digest_of("x"); }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.device_class = "x"; }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.toolchain = "x"; }));
  EXPECT_FALSE(finds([](ExperimentKey& k) { k.protocol = "x"; }));
}

TEST_F(StoreTest, InfrastructureVerdictsAreNoAnswer) {
  const auto store = open();
  seed(*store, VerdictClass::kInfra);
  const History* history = must(store->read());
  EXPECT_FALSE(must(history->find_outcome(sample_key(numbered_candidate(1)))).has_value());
}

TEST_F(StoreTest, AnUnfinishedExperimentIsAbandonedWhenItsCampaignIsTakenUp) {
  ExperimentId id;
  {
    const auto store = open();
    const CampaignId campaign =
        must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
    id = must(store->start_experiment(campaign, 1, sample_key(numbered_candidate(1))));
  }
  const auto store = open();
  const CampaignRow row = must(store->begin_or_resume_campaign(sample_spec(), spec_hash()));
  const History* history = must(store->read());
  EXPECT_EQ(must(history->experiment(id))->state, ExperimentState::kAbandoned);
  EXPECT_EQ(must(history->counters(row.id)).abandoned, 1);
  EXPECT_EQ(must(history->counters(row.id)).total, 0);
  const ExperimentId next =
      must(store->start_experiment(row.id, 1, sample_key(numbered_candidate(1))));
  EXPECT_GT(next.value, id.value);
}

TEST_F(StoreTest, ReuseCountsOnceAndOnlyAcrossCampaigns) {
  const auto store = open();
  const Seeded seeded = seed(*store);
  const CampaignId other =
      must(store->begin_or_resume_campaign(sample_spec("other"), spec_hash())).id;
  must(store->record_reuse(other, 2, seeded.experiment));
  must(store->record_reuse(other, 2, seeded.experiment));
  must(store->record_reuse(seeded.campaign, 1, seeded.experiment));
  const History* history = must(store->read());
  const Counters reused = must(history->counters(other));
  EXPECT_EQ(reused.reused, 1);
  EXPECT_EQ(reused.executed, 0);
  EXPECT_EQ(reused.total, 1);
  EXPECT_EQ(must(history->counters(seeded.campaign)).total, 1);
  const std::vector<Outcome> outcomes = must(history->outcomes(other));
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].candidate, numbered_candidate(1).digest());
}

TEST_F(StoreTest, FilteredExperimentsAreNewestFirst) {
  const auto store = open();
  const Seeded seeded = seed(*store);
  const Candidate second = numbered_candidate(2);
  must(store->save_candidate(second));
  const ExperimentId id = must(store->start_experiment(seeded.campaign, 1, sample_key(second)));
  must(store->finish_experiment(id, sample_outcome(second, VerdictClass::kImproved)));
  const History* history = must(store->read());
  const std::vector<ExperimentRow> all = must(history->experiments({}));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, id);
  EXPECT_EQ(all[0].family, "rowwise");
  EXPECT_EQ(all[0].screen->lo, 0.05);
  EXPECT_FALSE(all[0].confirmation.has_value());
  ExperimentFilter filter;
  filter.verdict = "NO_GAIN";
  ASSERT_EQ(must(history->experiments(filter)).size(), 1U);
  EXPECT_EQ(must(history->experiments(filter))[0].id, seeded.experiment);
  filter = {};
  filter.region_prefix = digest_of("region").hex().substr(0, 8);
  EXPECT_EQ(must(history->experiments(filter)).size(), 2U);
  filter.region_prefix = "ffff0000ffff";
  EXPECT_TRUE(must(history->experiments(filter)).empty());
  filter = {};
  filter.campaign_name = "none";
  EXPECT_TRUE(must(history->experiments(filter)).empty());
  filter = {};
  filter.limit = 1;
  EXPECT_EQ(must(history->experiments(filter)).size(), 1U);
}

TEST_F(StoreTest, RewritesAreDecidedTogetherWithTheIntegration) {
  const auto store = open();
  const Seeded seeded = seed(*store);
  RewriteRow row;
  row.campaign = seeded.campaign;
  row.phase = 1;
  row.region = digest_of("region");
  row.contains = {"add", "rms_norm"};
  row.workload = "decode-8";
  row.candidate = numbered_candidate(1).digest();
  row.confirmation = seeded.experiment;
  row.graph_from = digest_of("g0");
  row.graph_to = digest_of("g1");
  row.provenance = R"({"predicted":0.1})";
  const std::vector<RewriteId> ids{must(store->propose_rewrite(row)),
                                   must(store->propose_rewrite(row))};
  IntegrationResult integration;
  integration.ok = true;
  must(store->decide_rewrites(ids, RewriteState::kCommitted, integration));
  const std::vector<RewriteRow> rows = must(must(store->read())->rewrites(seeded.campaign));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, ids[0]);
  EXPECT_EQ(rows[1].state, RewriteState::kCommitted);
  EXPECT_EQ(rows[0].contains, row.contains);
  EXPECT_EQ(rows[0].confirmation, seeded.experiment);
  EXPECT_EQ(rows[0].graph_to, row.graph_to);
  EXPECT_EQ(rows[0].provenance, row.provenance);
  EXPECT_NE(rows[0].integration.find("\"ok\":true"), std::string::npos);
}

TEST_F(StoreTest, AnIntegrationComesBackWithItsRawSamples) {
  const auto store = open();
  const CampaignId campaign = must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
  ExperimentKey key = sample_key(numbered_candidate(1), ExperimentKind::kIntegration);
  IntegrationResult result;
  result.verdict.klass = VerdictClass::kNoGain;
  WorkloadIntegration workload;
  workload.workload = "decode-8";
  workload.measurement = sample_measurement("integration");
  result.workloads = {workload};
  const ExperimentId id = must(store->start_experiment(campaign, 1, key));
  must(store->finish_integration(id, result));
  const auto found = must(must(store->read())->find_integration(key));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->experiment, id);
  ASSERT_EQ(found->result.workloads.size(), 1U);
  EXPECT_EQ(found->result.workloads[0].measurement.blocks.size(), 2U);
  EXPECT_FALSE(must(must(store->read())->outcome(id)).has_value());
}

TEST_F(StoreTest, CandidatesComeBackByTheirContent) {
  const auto store = open();
  must(store->save_candidate(numbered_candidate(3)));
  must(store->save_candidate(numbered_candidate(3)));
  const History* history = must(store->read());
  const auto found = must(history->candidate(numbered_candidate(3).digest()));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->source, "// 3");
  EXPECT_FALSE(must(history->candidate(digest_of("none"))).has_value());
}

TEST_F(StoreTest, DecisionsAreReadBackInOrder) {
  const auto store = open();
  const CampaignId id = must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
  must(store->append_decision(id, {1, "select", R"({"n":2})"}));
  must(store->append_decision(id, {0, "phase_start", "{}"}));
  must(store->append_decision(id, {0, "phase_start", "{}"}));
  const std::vector<Decision> decisions = must(must(store->read())->decisions(id));
  ASSERT_EQ(decisions.size(), 2U);
  EXPECT_EQ(decisions[0].kind, "phase_start");
  EXPECT_EQ(decisions[1].payload, R"({"n":2})");
}

TEST_F(StoreTest, ADecisionCanNotBecomeAnotherOne) {
  const auto store = open();
  const CampaignId id = must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
  must(store->append_decision(id, {0, "select", R"({"n":2})"}));
  must(store->append_decision(id, {0, "select", R"({"n":3})"}));
  const Result<void> flushed = store->flush();
  ASSERT_FALSE(flushed.ok());
  EXPECT_EQ(flushed.error().code, ErrorCode::kIntegrity);
}

TEST_F(StoreTest, WritesBeforeAFailingOneAreKept) {
  {
    const auto store = open();
    const CampaignId id = must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
    must(store->append_decision(id, {0, "select", "{}"}));
    must(store->append_event(id, "before", "{}"));
    must(store->append_decision(id, {0, "other", "{}"}));
    EXPECT_FALSE(store->flush().ok());
    EXPECT_FALSE(store->append_event(id, "after", "{}").ok());
  }
  const auto store = open();
  EXPECT_EQ(must(must(store->read())->decisions(CampaignId{1})).size(), 1U);
}

TEST_F(StoreTest, AProfileBelongsToItsCampaign) {
  const auto store = open();
  const CampaignId id = must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
  EXPECT_FALSE(must(must(store->read())->profile(id)).has_value());
  ProfileResult profile;
  profile.blas_core = "Haswell";
  must(store->save_profile(id, profile));
  EXPECT_EQ(must(must(store->read())->profile(id))->blas_core, "Haswell");
}

TEST_F(StoreTest, GraphVersionsAndRegionsComeBackAsGraphs) {
  const auto store = open();
  const CampaignId id = must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
  graph::Graph graph;
  graph::Tensor x;
  x.kind = graph::TensorKind::kInput;
  x.name = "x";
  x.shape = {graph::tokens(), graph::fixed(8)};
  const graph::TensorId a = graph.add_tensor(x);
  x.kind = graph::TensorKind::kActivation;
  x.name = "y";
  const graph::TensorId y = graph.add_tensor(x);
  graph.inputs = {a};
  graph.outputs = {y};
  graph::Node node;
  node.op = graph::OpKind::kAdd;
  node.inputs = {a, a};
  node.outputs = {y};
  graph.add_node(node);
  const GraphVersionRow row{id, graph_hash(graph), 0, std::nullopt, R"({"from":"import"})"};
  must(store->save_graph_version(row, graph));
  must(store->save_graph_version(row, graph));
  must(store->save_region(digest_of("s"), graph, "rowwise"));
  const History* history = must(store->read());
  ASSERT_EQ(must(history->graph_versions(id)).size(), 1U);
  EXPECT_EQ(must(history->graph_versions(id))[0].provenance, row.provenance);
  const auto read = must(history->graph_version(id, row.hash));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(graph_hash(*read), row.hash);
  EXPECT_TRUE(must(history->region_json(digest_of("s"))).has_value());
}

TEST_F(StoreTest, WithoutAThreadEveryCallCommitsByItself) {
  const auto store = open({.writer_thread = false});
  const CampaignId id = must(store->begin_or_resume_campaign(sample_spec(), spec_hash())).id;
  must(store->append_decision(id, {0, "a", "{}"}));
  const auto reader = must(History::open(path()));
  EXPECT_EQ(must(reader->decisions(id)).size(), 1U);
}

}  // namespace
}  // namespace fusefarm::store
