/**
 * The real coding agents in the sandbox of `host-tools guard`. Each has a guard
 * that `hook install` has set up, and asks nobody.
 */
import { afterAll, expect, test } from 'vitest';
import { noSandbox } from '../cli/guard/guard-world.ts';
import { guarded } from './guarded.ts';
import { installed, type ProgramName, pinned } from './programs.ts';

const undo: (() => void)[] = [];
afterAll(() => {
  for (const step of undo) step();
});

/** What only these agents obey in a project. */
const obeyed: Partial<Record<ProgramName, readonly string[]>> = {
  'copilot-cli': ['project/.github/hooks/evil.json', 'project/.github/mcp.json'],
  opencode: ['project/opencode.json', 'project/.opencode/plugin/evil.js'],
};

/** The model is on loopback. The rule sees nothing of what a program does. */
const rules = `network: [127.0.0.1]
rules:
  - { id: no-secrets, effect: deny, reason: the_secrets_stay, when: { command@paths.*: { glob: '**/.env' } } }
`;

for (const program of Object.keys(pinned) as ProgramName[]) {
  const found = noSandbox === undefined ? await installed(program) : { missing: noSandbox };
  const bin = 'bin' in found ? found.bin : '';
  const why = 'missing' in found ? ` (skipped: ${found.missing})` : '';

  test.skipIf(bin === '')(
    `${program} ${pinned[program].version} works in the sandbox, its hook judges, and nothing that it runs writes elsewhere${why}`,
    async () => {
      const agent = await guarded(program, bin, rules, (step) => undo.push(step));
      const { kind, at } = agent;
      // At its first start it unpacks itself and makes its settings, which it cannot do in the sandbox.
      if (program === 'copilot-cli') await agent.run({ main: [] });
      agent.write('project/.git/config', '[core]\n');
      const targets = [agent.settings, agent.guard('rules.yaml'), at('project/.git/config')];
      const absent = [
        ...['outside', 'project/.mcp.json', 'project/.claude/settings.json'],
        ...(obeyed[program] ?? []),
      ].map(at);
      const evil = [...targets, ...absent].map((file) => `echo evil > '${file}'; rm -f '${file}'`);
      agent.write('project/evil.sh', evil.join('\n'));
      const texts = () => targets.map((file) => agent.read(file.slice(agent.home.length + 1)));
      const before = texts();
      const turns = [
        kind.shell('echo made > made.txt'),
        kind.shell('sh evil.sh'),
        kind.shell('cat .env'),
        kind.shell('curl -m 5 -sS http://192.0.2.1/ || echo unreachable'),
        kind.write(agent.settings, '{}'),
        kind.write(at('outside'), 'evil'),
      ];
      const { exit, text, results } = await agent.run(
        { main: turns.map((call) => [call]) },
        { by: ['guard', '--'], args: program === 'opencode' ? ['--auto'] : kind.args },
      );
      expect([exit, text]).toEqual([0, expect.stringContaining('refused 192.0.2.1:80')]);
      expect(agent.read('project/made.txt')).toBe('made\n');
      const [, written, secret, fetched] = results();
      expect(results()).toHaveLength(turns.length);
      expect(written).toContain('Read-only file system');
      expect(secret).toContain('the_secrets_stay');
      expect(fetched).toMatch(/not in `network`/);
      expect(results().join('\n')).not.toContain('not-for-the-model');
      expect(texts()).toEqual(before);
      for (const file of absent) expect(agent.has(file.slice(agent.home.length + 1))).toBe(false);
      // Its hooks run in the sandbox too, and have recorded the calls.
      expect(agent.audit().filter(({ type }) => type === 'call').length).toBeGreaterThan(3);
    },
  );
}
