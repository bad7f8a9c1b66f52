/**
 * Checks of one tool: the protocol of mounted tools, and the names and descriptions of all tools.
 */

import type { JsonObject } from '../../core.ts';
import { createDefinition } from '../../extend.ts';
import { describe } from '../../values/errors/index.ts';
import { checkBehaviour } from './validate-behaviour.ts';
import { type Findings, memberOf, textOf } from './validate-checks.ts';
import { checkMountedSchema } from './validate-schema.ts';

/** Options of the checks of tools. */
export interface ToolCheckOptions {
  /** Maximum milliseconds for each call to the host's code. */
  readonly timeoutMs: number;
  /** Whether tools are called with bad input. */
  readonly behaviour: boolean;
  /** The configuration that each `mount` gets a copy of. */
  readonly config: JsonObject;
  /** Modules that are loaded before a host-tools file is: paths or packages. */
  readonly modules: readonly string[];
}

const snakeCase = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const longestProviderName = 64;
const shortestDescription = 10;

/** Checks a tool that is mounted under `key`. Returns its name if that is legal. */
export async function checkMountedTool(
  key: string,
  tool: unknown,
  findings: Findings,
  { timeoutMs, behaviour }: ToolCheckOptions,
): Promise<string | undefined> {
  const wrong =
    typeof tool === 'function'
      ? 'It is a function, so a runtime would use it as a clean-up function. Mount a plain object.'
      : typeof tool === 'object' && tool !== null
        ? undefined
        : `Expected an object with name, description and execute, got ${describe(tool)}.`;
  if (!findings.note('tool_object', wrong, 'It is an object and not callable.', key))
    return undefined;
  const held = tool as object;

  const name = memberOf(held, 'name');
  const illegal =
    'threw' in name ? `Reading \`name\` throws: ${name.threw}` : nameFault(name.value);
  const legal = findings.note('tool_name', illegal, 'Its name is legal.', key)
    ? (name.value as string)
    : undefined;
  if (legal !== undefined) {
    findings.note(
      'mount_name',
      legal === key
        ? undefined
        : `It is mounted as \`${key}\`, but its name is \`${legal}\`. A model that is shown one ` +
            'name would call the other.',
      'It is mounted under its own name.',
      key,
    );
    checkNameStyle(legal, findings);
  }

  const description = memberOf(held, 'description');
  const blank =
    'threw' in description
      ? `Reading \`description\` throws: ${description.threw}`
      : typeof description.value === 'string' && description.value.trim() !== ''
        ? undefined
        : `Expected \`description\` to be a non-blank string, got ${describe(description.value)}.`;
  if (findings.note('tool_description', blank, 'It has a description.', key))
    checkDescriptionLength(description.value as string, key, findings);

  const execute = memberOf(held, 'execute');
  const runs = findings.note(
    'tool_execute',
    typeof execute.value === 'function'
      ? undefined
      : `Expected \`execute\` to be a function, got ${describe(execute.value)}.`,
    'It has `execute`.',
    key,
  );
  const schema = checkMountedSchema(held, key, findings);
  if (runs && behaviour) await checkBehaviour(held, key, schema, findings, timeoutMs);
  return legal;
}

/** Advice about a legal name. */
export function checkNameStyle(name: string, findings: Findings): void {
  findings.note(
    'name_style',
    !snakeCase.test(name)
      ? 'Its name is not snake_case (lower-case letters, digits, single underscores), the style ' +
          'that every model provider accepts.'
      : name.length > longestProviderName
        ? `Its name has ${name.length} characters; model providers take at most ` +
          `${longestProviderName}.`
        : undefined,
    'Its name is short snake_case.',
    name,
  );
}

/** Advice about a description that is not blank. */
export function checkDescriptionLength(
  description: string,
  name: string,
  findings: Findings,
): void {
  const { length } = description.trim();
  findings.note(
    'description_length',
    length < shortestDescription
      ? `Its description has ${length} characters: say what it does, what it expects and when ` +
          'to use it.'
      : undefined,
    'Its description is more than a word.',
    name,
  );
}

/** The reason for which the library would refuse a name. */
function nameFault(name: unknown): string | undefined {
  try {
    createDefinition({
      name,
      description: 'A stand-in.',
      parameters: { type: 'object' },
      handler: () => null,
    });
    return undefined;
  } catch (error) {
    return `${textOf(error)}.`;
  }
}
