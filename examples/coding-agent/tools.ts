// The eleven tools of the preset with handlers: files below the session's folder and no others,
// programs from a list, no shell.
import { execFile } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import { defineTool } from '../../src/index.ts';
import { codingAgentTool } from '../../src/surfaces/workflow/index.ts';
import type { HostServices } from './files.ts';
import { readingTools } from './reading-tools.ts';
import { writingTools } from './writing-tools.ts';

const define = defineTool.for<HostServices>();

// Whole command lines: an interpreter with free arguments would be a shell by another name.
const COMMANDS = [['node', '--version']];

const sessionOpen = define({
  ...codingAgentTool('host.session.open'),
  handler: (_, { services }) => ({ hostSession: services.openHostSession() }),
});

const exec = define({
  ...codingAgentTool('host.exec'),
  policy: {
    check({ input, allow, deny }) {
      const known =
        input.cwd === '.' &&
        COMMANDS.some((words) => isDeepStrictEqual(words, [input.program, ...input.args]));
      return known
        ? allow()
        : deny(
            'command_not_allowed',
            `allowed, in the root: ${COMMANDS.map((words) => words.join(' ')).join(', ')}`,
          );
    },
  },
  handler: ({ args, timeoutMs }, { cwd, signal }) =>
    new Promise<{ exitCode: number; stdout: string; stderr: string }>((resolve, reject) => {
      // No variable of the host's reaches the program: NODE_OPTIONS alone could make it run
      // anything.
      const options = {
        cwd,
        env: {},
        timeout: timeoutMs,
        signal,
        maxBuffer: 100_000,
        windowsHide: true,
      };
      execFile(process.execPath, [...args], options, (error, stdout, stderr) => {
        if (error === null) resolve({ exitCode: 0, stdout, stderr });
        else if (typeof error.code === 'number') resolve({ exitCode: error.code, stdout, stderr });
        else reject(error);
      });
    }),
});

/** Every tool of `codingAgentPreset()`, for `registry.registerAll`. */
export const codingAgentTools = [sessionOpen, exec, ...readingTools, ...writingTools] as const;
