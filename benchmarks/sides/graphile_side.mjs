// Graphile Worker at its best settings: `graphile_side.mjs VERB URL …` prints its figures as JSON.
// Batches: a local queue of 500 and completions gathered; see its documentation's performance page.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

// The package stands beside the Node that runs this, not beside this file.
const beside = createRequire(join(dirname(process.execPath), "x.js"));
const { Logger, makeWorkerUtils, run, runMigrations } = await import(
  pathToFileURL(beside.resolve("graphile-worker")).href
);

const PAYLOAD = { text: "x".repeat(80) };
const CHUNK = 10_000;
const logger = new Logger(() => () => {});

const preset = (url) => ({
  worker: {
    connectionString: url,
    concurrentJobs: 24,
    maxPoolSize: 26,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger,
  },
});

async function install(url) {
  await runMigrations({ preset: preset(url) });
  return {};
}

async function fill(url, jobs) {
  const utils = await makeWorkerUtils({ preset: preset(url) });
  const began = performance.now();
  for (let first = 0; first < jobs; first += CHUNK) {
    const length = Math.min(CHUNK, jobs - first);
    await utils.addJobs(Array.from({ length }, () => ({ identifier: "noop", payload: PAYLOAD })));
  }
  const seconds = (performance.now() - began) / 1000;
  await utils.release();
  return { per_second: jobs / seconds };
}

async function drain(url, jobs) {
  let ran = 0;
  const cpu = process.cpuUsage();
  const began = performance.now();
  await new Promise((resolve, reject) => {
    const noop = async () => {
      ran += 1;
      if (ran === Number(jobs)) started.then((runner) => runner.stop()).then(resolve, reject);
    };
    const started = run({ preset: preset(url), taskList: { noop }, noHandleSignals: true });
    started.catch(reject);
  });
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { per_second: jobs / seconds, cpu_us: (user + system) / jobs };
}

const [verb, url, ...rest] = process.argv.slice(2);
const figures = await { install, fill, drain }[verb](url, ...rest);
console.log(JSON.stringify(figures));
process.exit(0);
