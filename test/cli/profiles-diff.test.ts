import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cli, gated } from './cli-run.ts';

const more = [...gated, '--host-tools', 'strict.yaml'];

describe('profiles diff', () => {
  test('shows what rules test beside the input', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'host-tools-diff-'));
    const file = join(folder, 'newer.yaml');
    writeFileSync(
      file,
      'profiles:\n  a: { tools: [greet] }\n  b:\n    tools: [greet]\n    rules:\n      - { id: ' +
        'x, effect: deny, principal: eve, surface: mcp, facts: { frozen: true } }\n',
    );
    const { stdout } = await cli(['profiles', 'diff', 'a', 'b', ...gated, '--host-tools', file]);
    rmSync(folder, { recursive: true });
    expect(stdout).toBe(
      'Rules only in b:\n  deny greet for the principal "eve" by way of "mcp" with the facts ' +
        '{"frozen":true} (x)\n',
    );
  });

  test('shows labels, and the origins that rules ask for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'host-tools-diff-'));
    const file = join(folder, 'newer.yaml');
    writeFileSync(
      file,
      'profiles:\n  a: { tools: [greet] }\n  b:\n    tools: [{ name: greet, roles: { name: ' +
        'free } }]\n    rules: [{ id: x, effect: deny, tools: greet, origins: unknown }]\n',
    );
    const { stdout } = await cli(['profiles', 'diff', 'a', 'b', ...gated, '--host-tools', file]);
    rmSync(folder, { recursive: true });
    expect(stdout).toBe(
      'greet:\n  roles.name: not set in a, free in b\n' +
        'Rules only in b:\n  deny greet with values of the origins "unknown" (x)\n',
    );
  });

  test('shows what each can do that the other cannot', async () => {
    const { exit, stdout, stderr } = await cli(['profiles', 'diff', 'reader', 'writer', ...gated]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toBe(
      [
        'Tools only in writer:',
        '  push',
        '  open',
        'Rules only in writer:',
        '  allow greet (greetings)',
        '  deny push when {"branch":{"glob":"release/*"}} as frozen (profile:writer#1)',
        'Limits:',
        '  callsPerMinute: 10 in reader, not set in writer',
        'If no rule matches, the default: not set in reader, ask in writer',
        '',
      ].join('\n'),
    );
  });

  test(
    'compares knobs, timeouts, budgets, approval and decisions of tools in both; what an heir ' +
      'inherits is no difference',
    async () => {
      const { stdout } = await cli(['profiles', 'diff', 'writer', 'strict', ...more, '--json']);
      expect(JSON.parse(stdout)).toEqual({
        a: 'writer',
        b: 'strict',
        onlyInA: [],
        onlyInB: ['fails'],
        tools: [
          {
            name: 'greet',
            differences: [
              { field: 'decision', a: 'allow', b: 'ask' },
              { field: 'requiresApproval', a: false, b: true },
              { field: 'timeoutMs', a: 120_000, b: 5_000 },
              { field: 'maxOutputChars', a: null, b: 100 },
            ],
          },
          {
            name: 'push',
            differences: [{ field: 'knobs.remote', a: 'upstream', b: 'mirror' }],
          },
        ],
        rules: {
          onlyInA: [],
          onlyInB: [
            {
              id: 'no-tokens',
              effect: 'deny',
              rule: {
                id: 'no-tokens',
                effect: 'deny',
                tools: 'push',
                when: { token: { glob: '*' } },
              },
              tools: ['push'],
            },
          ],
        },
        limits: [{ field: 'loopGuard', a: null, b: 3 }],
        default: null,
      });
    },
  );

  test('quotas that only one of them has, those of its parents too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'host-tools-diff-'));
    try {
      const file = join(folder, 'more.yaml');
      writeFileSync(
        file,
        'profiles:\n  base: { tools: [greet], quotas: [{ id: all, max: 9, per: day, by: session ' +
          '}] }\n  a: { extends: base, quotas: [{ id: few, max: 1, per: hour, by: session }] }\n' +
          '  b: { tools: [greet] }\n',
      );
      const { stdout } = await cli(['profiles', 'diff', 'a', 'b', ...gated, '--host-tools', file]);
      expect(stdout).toBe(
        'Quotas only in a:\n  all: {"max":9,"per":"day","by":"session"}\n' +
          '  few: {"max":1,"per":"hour","by":"session"}\n',
      );
      const json = await cli([
        'profiles',
        'diff',
        'a',
        'base',
        ...gated,
        '--host-tools',
        file,
        '--json',
      ]);
      expect(JSON.parse(json.stdout)).toMatchObject({
        quotas: { onlyInA: [{ id: 'few', max: 1 }], onlyInB: [] },
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a rule that touches no effective tool is shown as it was written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'host-tools-diff-'));
    try {
      const file = join(folder, 'more.yaml');
      writeFileSync(
        file,
        'profiles:\n  a: { tools: [greet] }\n  b:\n    tools: [greet]\n    rules:\n      - { ' +
          'effect: deny, tools: [psh, "x_*"], when: { branch: main }, reason: frozen }\n      - ' +
          '{ effect: ask, tags: net, annotations: { destructive: true }, source: "mcp:*" }\n',
      );
      const { stdout } = await cli(['profiles', 'diff', 'a', 'b', ...gated, '--host-tools', file]);
      expect(stdout.split('\n').slice(1, 3)).toEqual([
        '  deny psh or x_*, which is not an effective tool, when {"branch":"main"} as frozen ' +
          '(profile:b#0)',
        '  ask every tool tagged net annotated {"destructive":true} from mcp:*, which is not an ' +
          'effective tool (profile:b#1)',
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a rule that only one of them enforces is a difference', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'host-tools-diff-'));
    try {
      const file = join(folder, 'more.yaml');
      writeFileSync(
        file,
        'profiles:\n  a: { tools: [greet], rules: [{ id: r, effect: ask, tools: greet, shadow: ' +
          'true }] }\n  b: { tools: [greet], rules: [{ id: r, effect: ask, tools: greet }] }\n',
      );
      const { stdout } = await cli(['profiles', 'diff', 'a', 'b', ...gated, '--host-tools', file]);
      expect(stdout).toBe(
        [
          'greet:',
          '  decision: allow in a, ask in b',
          '  requiresApproval: false in a, true in b',
          'Rules only in a:',
          '  shadow ask greet (r)',
          'Rules only in b:',
          '  ask greet (r)',
          '',
        ].join('\n'),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('the same rule by another name is no difference', async () => {
    const { stdout } = await cli(['profiles', 'diff', 'writer', 'twin', ...more]);
    expect(stdout).toBe('writer and twin are the same.\n');
  });

  test('a profile and itself are the same', async () => {
    const { stdout } = await cli(['profiles', 'diff', 'writer', 'writer', ...gated]);
    expect(stdout).toBe('writer and writer are the same.\n');
  });

  test('facts count: what both wait for is in neither', async () => {
    const { stdout } = await cli([
      'profiles',
      'diff',
      'reader',
      'writer',
      ...gated,
      '--facts',
      '{"hostSession.status":"ready"}',
      '--json',
    ]);
    expect(JSON.parse(stdout).onlyInB).toEqual(['push', 'exec', 'open']);
  });
});
