/** The names of agents that help shows are those of the agents. */
import { expect, test } from 'vitest';
import { agentNames } from '../../../src/surfaces/agents/agent-names.ts';
import { agents } from '../../../src/surfaces/agents/agents.ts';

test('help names every agent', () => {
  expect([...agents.keys()]).toEqual(agentNames);
});
