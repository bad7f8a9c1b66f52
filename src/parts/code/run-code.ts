/** The tool with which a model runs programs. */

import type { CodeRunner } from '../../api/code.ts';
import type { ToolContext } from '../../api/context.ts';
import type { AnyTool } from '../../api/tool.ts';
import { callOf } from '../../core/call/handler-context.ts';
import { createDefinition } from '../../core/tool/define-tool.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { longestTimerMs } from '../../values/options/index.ts';
import type { Journals } from './journals.ts';
import type { CodeSettings } from './settings.ts';

/** What the tools of a registry run programs with. */
export interface CodeTools {
  readonly runner: CodeRunner;
  /** Gives undefined if nothing is kept. */
  readonly journals: () => Promise<Journals | undefined>;
}

/** Its description, without the declarations. */
export const about =
  'Runs a JavaScript program that calls tools, and returns what it returns. Write the body of an ' +
  'async function: `await tools.name(input)` calls a tool and gives its output, `return` ends ' +
  'the program, `console.log` notes a line. A call that is refused or fails throws an Error with ' +
  '`code`, `reason` and `message`. Do several steps in one program, and return only what you ' +
  'need. There are no modules, files, network or timers.';

export function codeTool(settings: CodeSettings, tools: CodeTools): AnyTool {
  return createDefinition({
    name: settings.name,
    title: 'Run a program',
    description: about,
    parameters: parameters(settings),
    // The clock of the program stops while a person is asked, so the call has none.
    timeoutMs: longestTimerMs,
    handler: async ({ code }: { readonly code: string }, context: ToolContext) =>
      (await import('./run-program.ts')).runProgram(callOf(context), code, settings, tools),
  });
}

/** Checked by hand, so that a refusal says what to do, and no part is needed. */
function parameters({ maxSourceChars }: CodeSettings): object {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      code: {
        type: 'string',
        minLength: 1,
        maxLength: maxSourceChars,
        description: 'The program: the body of an async function in JavaScript.',
        // It is no value of a call, and those of its calls are judged by themselves.
        'x-role': 'free',
      },
    },
    required: ['code'],
    additionalProperties: false,
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'host-tools',
      validate: (value: unknown) => {
        const issues = faultsOf(value as JsonObject, maxSourceChars);
        return issues.length === 0 ? { value } : { issues };
      },
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}

function faultsOf(
  input: JsonObject,
  maxSourceChars: number,
): { readonly message: string; readonly path: string[] }[] {
  const faults = Object.keys(input)
    .filter((key) => key !== 'code')
    .map((key) => ({ message: 'is unknown', path: [key] }));
  const code = Object.hasOwn(input, 'code') ? input.code : undefined;
  const wrong =
    typeof code !== 'string' || code.trim() === ''
      ? 'must be the source of a program'
      : code.length > maxSourceChars
        ? `must have at most ${maxSourceChars} characters, and has ${code.length}. Write a ` +
          'shorter program, or several'
        : undefined;
  if (wrong !== undefined) faults.push({ message: wrong, path: ['code'] });
  return faults;
}
