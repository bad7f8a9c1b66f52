/**
 * The program that the conformance suite starts for each client scenario. It hands the scenario to
 * the runner, which has the client loaded already: loading it each time takes longer than all else.
 */
import { request } from 'node:http';

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context } = process.env;
const [runner, url] = process.argv.slice(2);
// `fetch` takes three times as long to load.
const asked = request(runner, { method: 'POST' }, (response) => {
  process.exitCode = response.statusCode === 200 ? 0 : 1;
  response.pipe(process.stderr);
});
asked.end(JSON.stringify({ scenario, context: JSON.parse(context ?? '{}'), url }));
