/** The names of agents that help shows are those of the agents. */
import { expect, test } from 'vitest';
import { agentNames } from '../../../src/surfaces/agents/agent.ts';
import { agents } from '../../../src/surfaces/agents/hooks.ts';

test('help names every agent', () => {
  expect([...agents.keys()]).toEqual(agentNames);
});
