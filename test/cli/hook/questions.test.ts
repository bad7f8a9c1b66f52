/** What a hook says about a call that it asks about or denies, and when nobody would be asked. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../docs/pages.ts';
import { decided, type HookWorld, hookWorld } from './hook-world.ts';

const starter = readFileSync(join(root, 'rules/claude-code.yaml'), 'utf8');

/** Of all tests, since a hook that decides changes nothing but what its session remembers. */
let made: HookWorld;
beforeAll(() => {
  let remove = (): void => {};
  made = hookWorld({ rules: [] }, { 'src/a.ts': '1', '.env': 'KEY=1' }, (work) => {
    remove = work;
  });
  made.files.write({ 'starter.yaml': starter });
  return () => remove();
});

const send = async (tool_name: string, tool_input: object, more: object = {}) =>
  decided(
    await made.send(
      { hook_event_name: 'PreToolUse', tool_name, tool_input, ...more },
      { argv: ['hook', 'claude-code', '--host-tools', made.files.at('starter.yaml')] },
    ),
  );

describe('a question or a denial says what the call would do', () => {
  test.each<[string, string, readonly string[]]>([
    ['python3 -c "print(1)"', 'ask', ['`python3` runs code']],
    ['bash scripts/release.sh', 'ask', ['`bash` runs a file']],
    ['$TOOL --version', 'ask', ['$TOOL']],
    ['git stash clear', 'ask', ['`git stash clear` throws changes away']],
    ['ls && git push origin main', 'ask', ['`git push origin main` sends work']],
    ['rm -rf src', 'ask', ['removes `src`']],
    ['> src/a.ts', 'ask', ['replaces what is in `src/a.ts`']],
    ['curl https://evil.example/x', 'ask', ['the host `evil.example`']],
    ['npx some-package', 'ask', ['runs `some-package`, which the project has not installed']],
    ['cat .env', 'deny', ['`cat .env` names `.env`, a file with secrets']],
    ['echo {} > .mcp.json', 'deny', ['`.mcp.json`, a configuration of MCP servers']],
    ['echo x > /etc/x', 'deny', ['writes to `/etc/x`']],
    // Every reason is said, not only that of the first rule.
    ['git push; python3 -c 1', 'ask', ['`git push` sends work', '`python3` runs code']],
  ])('%s', async (command, effect, texts) => {
    const answer = await send('Bash', { command });
    expect(answer.effect).toBe(effect);
    for (const text of texts) expect(answer.reason).toContain(text);
  });

  test('also about files and pages', async () => {
    const outside = await send('Write', { file_path: '/etc/x', content: '' });
    expect(outside.reason).toContain('`/etc/x` is outside of the project');
    const orders = await send('Write', { file_path: 'AGENTS.md', content: '' });
    expect(orders.reason).toContain('AGENTS.md` is a file that agents take for orders');
    const page = await send('WebFetch', { url: 'https://evil.example/x', prompt: '' });
    expect(page.reason).toContain('the host `evil.example`');
  });

  test('what the agent wrote is cleaned, and cut where it is long', async () => {
    const hidden = await send('Bash', {
      command: `rm 'a\u001b[2J\u202eb' ${'x'.repeat(5_000)}`,
    });
    expect(hidden.effect).toBe('ask');
    for (const sign of ['\u001b', '\u202e']) expect(hidden.reason).not.toContain(sign);
    expect(hidden.reason.length).toBeLessThan(1_500);
  });
});

describe('in a mode in which Claude Code asks nobody, a question is a denial', () => {
  test.each(['bypassPermissions', 'auto', 'dontAsk', 'some-later-mode'])('%s', async (mode) => {
    for (const [tool, input] of [
      ['Write', { file_path: join(made.project, '.husky/pre-commit'), content: 'x' }],
      ['Bash', { command: 'echo x > .vscode/tasks.json' }],
      ['Bash', { command: 'git push' }],
    ] as const) {
      const answer = await send(tool, input, { permission_mode: mode });
      expect([input, answer.effect]).toEqual([input, 'deny']);
      expect(answer.reason).toContain(
        `In its mode \`${mode}\`, Claude Code does not ask a person.`,
      );
    }
    const free = await send('Bash', { command: 'npm test' }, { permission_mode: mode });
    expect(free.effect).toBe('none');
  });

  test.each(['default', 'acceptEdits', 'plan', 'manual'])('%s asks', async (mode) => {
    const answer = await send('Bash', { command: 'git push' }, { permission_mode: mode });
    expect(answer.effect).toBe('ask');
  });

  test('a mode that is no text is none that is known', async () => {
    const answer = await send('Bash', { command: 'git push' }, { permission_mode: 1 });
    expect(answer.effect).toBe('deny');
  });
});
