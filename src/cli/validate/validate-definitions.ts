/** Checks of definitions. Their handlers never run. */

import { registryStateOf } from '../../core/registry/state-of.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import {
  type AnyTool,
  type Executor,
  type HostToolRegistry,
  isMisuseError,
  type MisuseCode,
} from '../../core.ts';
import { outputsOf } from '../../parts/offload/outputs-of.ts';
import { schemaEngine } from '../../values/json-schema/engine.ts';
import { refusedInputs } from './validate-behaviour.ts';
import { type CheckName, type Findings, textOf, within } from './validate-checks.ts';
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

// Checks that profiles with tools that offload their outputs also list the tool that reads them.
// Otherwise the outputs are cut, although nothing is wrong.

/** A profile, and where it was written. */
export interface WrittenProfile {
  readonly id: string;
  /** The place, such as ``profiles[0], line 9 `ci` ``. */
  readonly place: string;
  /** Its `tools` are a map of names instead of a list. */
  readonly listsByName?: boolean;
}

/** Does nothing for profiles that did not load, and where a tool of the host has that name. */
export function checkOffload(
  registry: HostToolRegistry,
  written: readonly WrittenProfile[],
  findings: Findings,
): void {
  const state = registryStateOf(registry);
  const {
    profiles,
    catalogue: { tools },
  } = state;
  const readerName = outputsOf(state).reader?.name;
  if (readerName === undefined) return;
  let offloads = false;
  const wrong = written.flatMap(({ id, place, listsByName = false }) => {
    const profile = profiles.get(id);
    if (profile === undefined) return [];
    const names = [...profile.resolved.tools.keys()].filter(
      (name) => tools.get(name)?.internals.execution.outputStrategy === 'offload',
    );
    if (names.length > 0) offloads = true;
    if (names.length === 0 || profile.resolved.tools.has(readerName)) return [];
    return [{ id, place, names, listsByName, parents: profile.given.extends ?? [] }];
  });
  const ids = new Set(wrong.map(({ id }) => id));
  for (const { place, names, listsByName, parents } of wrong) {
    // What its parent lacks is said of the parent.
    if ([parents].flat().some((parent) => ids.has(parent))) continue;
    const entry = listsByName
      ? `${readerName}: { optional: true, knobs: {} }`
      : `{ name: ${readerName}, optional: true }`;
    const listed = names.map((name) => `\`${name}\``).join(', ');
    findings.fail(
      'offload_readable',
      `${place}: ${listed} ` +
        `${names.length === 1 ? 'offloads its output' : 'offload their outputs'}, but the ` +
        `profile does not list \`${readerName}\`, so long outputs are cut. Add ` +
        `\`${entry}\` to its \`tools\`.`,
    );
  }
  if (offloads && wrong.length === 0)
    findings.note('offload_readable', undefined, 'Offloaded outputs can be read.');
}
