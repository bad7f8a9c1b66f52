/** Checks of definitions. Their handlers never run. */

import { internalsOf } from '../../core/tool/definition.ts';
import {
  type AnyTool,
  type Executor,
  type HostToolRegistry,
  isMisuseError,
  type MisuseCode,
} from '../../core.ts';
import { schemaEngine } from '../../values/json-schema/engine.ts';
import { refusedInputs } from './validate-behaviour.ts';
import type { CheckName, Findings } from './validate-checks.ts';
import { textOf, within } from './validate-foreign-code.ts';
import { checkMeaning, refusing } from './validate-schema.ts';
import { checkDescriptionLength, checkNameStyle, type ToolCheckOptions } from './validate-tool.ts';

/** The check that an error of the registry belongs to. Other errors belong to `definitions`. */
const checkOf: Partial<Record<MisuseCode, CheckName>> = {
  duplicate_name: 'name_unique',
  name_conflict: 'name_unique',
  invalid_schema: 'schema_valid',
};

/**
 * Registers each definition that the registry does not have. Errors of the registry are findings.
 */
export function registerEach(
  definitions: readonly AnyTool[],
  registry: HostToolRegistry,
  findings: Findings,
): void {
  const known = new Set<AnyTool>(registry.listTools() as readonly AnyTool[]);
  for (const definition of definitions) {
    try {
      if (known.has(definition)) continue;
      registry.register(definition as AnyTool<unknown>);
      known.add(definition);
    } catch (error) {
      findings.fail(
        (isMisuseError(error) && checkOf[error.code]) || 'definitions',
        textOf(error),
        definition.name,
      );
    }
  }
}

/** Checks registered definitions. Returns their names. */
export async function checkDefinitions(
  definitions: readonly AnyTool[],
  findings: Findings,
  options: ToolCheckOptions,
): Promise<string[]> {
  if (definitions.length > 0)
    findings.note(
      'definitions',
      undefined,
      definitions.length === 1 ? 'One definition.' : `${definitions.length} definitions.`,
    );
  for (const definition of definitions) await checkDefinition(definition, findings, options);
  return definitions.map(({ name }) => name);
}

async function checkDefinition(
  definition: AnyTool,
  findings: Findings,
  { timeoutMs, behaviour }: ToolCheckOptions,
): Promise<void> {
  const { name, description } = definition;
  const { input, runsIn, executor } = internalsOf(definition);
  findings.runsIn(name, runsIn);
  if (executor !== undefined) await checkSandbox(executor, name, findings, timeoutMs);
  input.prepare(() => schemaEngine);
  const schema = { json: input.json, refuses: refusing((copy) => input.validate(copy)) };
  checkNameStyle(name, findings);
  checkDescriptionLength(description, name, findings);
  findings.note('schema_valid', undefined, 'Its schema is usable.', name);
  checkMeaning(schema, input.check(), name, findings);
  if (!behaviour) return;
  // The library refuses such input before it calls the handler, so it is enough to check the
  // schema.
  const { inputs, late } = await refusedInputs(schema, timeoutMs);
  const undecided = late
    ? `Its schema did not accept or refuse an invalid input within ${timeoutMs} ms.`
    : undefined;
  if (!findings.note('settles', undecided, 'Its schema decides in time.', name)) return;
  if (inputs.length > 0)
    findings.note(
      'refuses_invalid_input',
      undefined,
      'It refuses input that its schema refuses.',
      name,
    );
  else
    findings.fail('behaviour_skipped', 'Its schema accepts all inputs that could be tried.', name);
}

/**
 * Starts a sandbox and loads the handler there, if the tool has one. Closing the registry ends it.
 */
async function checkSandbox(
  executor: Executor,
  name: string,
  findings: Findings,
  timeoutMs: number,
): Promise<void> {
  // Loaded only here, since most files have no sandboxes.
  const { isSandbox, loadSandbox } = await import('../../executors/sandbox/sandbox-executor.ts');
  if (!isSandbox(executor)) return;
  const waiting = new AbortController();
  const ended = await within(timeoutMs, () => loadSandbox(executor, waiting.signal));
  waiting.abort();
  const fault =
    ended.kind === 'late'
      ? `Its sandbox did not load the handler within ${timeoutMs} ms.`
      : ended.kind === 'threw'
        ? ended.text
        : undefined;
  findings.note('sandbox_loads', fault, 'Its sandbox starts and has the handler.', name);
}
