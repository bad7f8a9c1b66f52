import { defineTool, fail, ok } from '../../src/index.ts';
import { gitCommand } from './git/commands.ts';
import { judgeGit } from './git/policy.ts';
import { runGit } from './git/run.ts';
import { gitInput, gitKnobs } from './git/schema.ts';

/**
 * One broad git tool. What of it an agent may use is a profile's business: see the knobs. The
 * repository is the session's working folder.
 */
export const gitTool = defineTool({
  name: 'git',
  description:
    'Reads and, where the profile allows it, changes the git repository of this session. One ' +
    'action a call.',
  parameters: gitInput,
  annotations: { destructive: false, openWorld: false },
  timeoutMs: 30_000,
  // Git locks its index: two calls at once on one repository would only fail on each other. Where
  // several sessions share one, make the registry with `locks: 'registry'`.
  resourceKey: 'git',
  policy: { knobs: gitKnobs, check: judgeGit },
  async handler(input, { cwd, signal, environment, knobs }) {
    const options = { root: cwd, signal, environment, maxChars: knobs.maxOutputChars };
    const { args, report } = gitCommand(input, knobs);
    const run = await runGit(args, options);
    if (run.code !== 0) {
      const said = (run.stderr || run.stdout).replaceAll(cwd, '.').trim();
      return fail({
        message: `git ${input.action} failed: ${said || `exit code ${run.code}`}`,
        reason: 'git_failed',
      });
    }
    const { stdout, cut } = report === undefined ? run : await runGit(report, options);
    return cut
      ? ok(`${stdout}\n[cut at ${knobs.maxOutputChars} characters]`, {
          cutAtChars: knobs.maxOutputChars,
        })
      : ok(stdout.trimEnd());
  },
});
