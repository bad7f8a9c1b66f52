/** The promise of profiles: one broad tool, many narrow policies, all of it from a file. */
import { describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

const file = `
tools:
  - name: git
    description: Runs git.
    module: ./git.mjs
    parameters: { type: object, properties: { action: { type: string }, flags: { type: array, items: { type: string } } }, required: [action] }
    policy:
      knobs:
        type: object
        properties:
          paths: { type: object, additionalProperties: { type: string } }
          depth: { type: integer, default: 1 }
        additionalProperties: false
  - { name: shell, description: Runs a command., module: ./git.mjs, requires_approval: true }
  - { name: read_file, description: Reads., module: ./git.mjs, annotations: { readOnly: true } }
profiles:
  base:
    default: deny
    tools: { git: { paths: { src: rw, docs: r }, depth: 5 }, read_file: }
    rules:
      - { id: look, effect: allow, tools: git, when: { action: { in: [status, log] } } }
      - { effect: allow, annotations: { readOnly: true } }
    limits: { callsPerMinute: 4 }
  strict:
    tools: [git]
    rules:
      - { id: no-force, effect: deny, tools: git, when: { 'flags.*': { glob: '--force*' } }, reason: force_refused }
    limits: { callsPerMinute: 100 }
  child:
    extends: [base, strict]
    tools: { git: { paths: { src: r } }, shell: }
rules:
  - { id: no-push, effect: deny, tools: git, when: { action: push }, reason: push_refused }
`;

async function world(profile: string) {
  const { at } = folder({ 'a.yaml': file, 'git.mjs': 'export default (_, { knobs }) => knobs;' });
  const registry = new HostToolRegistry();
  const { failed } = await loadHostTools(at('a.yaml'), registry);
  expect(failed).toEqual([]);
  return registry.createSession({ sessionId: 's', services: undefined, profile });
}

describe('a child of two profiles', () => {
  test('runs what a rule of either allows, with knobs merged key by key', async () => {
    const session = await world('child');
    expect(session.effectiveTools().names).toEqual(['git', 'read_file', 'shell']);
    // Key by key: `paths` is the child's as a whole, `depth` the parent's.
    expect((await session.call('git', { action: 'status' })).output).toEqual({
      paths: { src: 'r' },
      depth: 5,
    });
    expect((await session.call('read_file', {})).success).toBe(true);
  });

  test.each([
    [
      'what no rule allows, by default',
      'git',
      { action: 'commit' },
      'denied_by_default',
      undefined,
    ],
    [
      'what a rule of the second parent denies',
      'git',
      { action: 'log', flags: ['-1', '--force-with-lease'] },
      'force_refused',
      'no-force',
    ],
    ['what a rule of the registry denies', 'git', { action: 'push' }, 'push_refused', 'no-push'],
    ['a tool that it added itself and nothing allows', 'shell', {}, 'denied_by_default', undefined],
  ])('is denied %s; explain says the same', async (_, name, input, reason, rule) => {
    const session = await world('child');
    const { error } = await session.call(name, input);
    expect(error).toMatchObject({
      code: 'policy_denied',
      reason,
      ...(rule === undefined ? {} : { ruleId: rule }),
    });
    expect(JSON.stringify(await session.explain(name, input))).toContain(reason);
  });

  test('has the tightest limits of all', async () => {
    const session = await world('child');
    const codes = [];
    for (let at = 0; at < 5; at++) codes.push((await session.call('read_file', {})).error?.code);
    expect(codes).toEqual([undefined, undefined, undefined, undefined, 'rate_limited']);
  });
});
