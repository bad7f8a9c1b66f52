/** Makes a definition from an entry of `tools`. */
import { dirname } from 'node:path';
import { type AnyTool, isMisuseError } from '../../core.ts';
import { createDefinition, inspectTool } from '../../extend.ts';
import { describe } from '../../values/errors/index.ts';
import { canonicalJson } from '../../values/json/index.ts';
import { nearestNames } from '../../values/text/names.ts';
import { notExternal, spellings, type ToolEntry, toolEntry } from './format.ts';
import {
  causeText,
  type ImportedModule,
  importModule,
  kindOf,
  type ModuleVersions,
  versionOf,
} from './import-module.ts';
import { entryFault } from './issues.ts';
import { atNamedPart } from './places.ts';
import type { RawEntry } from './read-file.ts';
import { ModuleFault, resolveModule } from './resolve-module.ts';
import type { SandboxEntry } from './sandbox-format.ts';
import { bothNames, timeoutMsOf } from './value-formats.ts';

/** The outcome of an entry: a definition, or the reason why there is none. */
export type PreparedTool = { readonly entry: RawEntry; readonly name: string | undefined } & (
  | {
      readonly definition: AnyTool;
      /** Equal for entries with the same content and the same version of a module. */
      readonly identity: string;
    }
  | {
      readonly reason: string;
      /** What the module's own code threw, if that is the reason. */
      readonly thrown?: { readonly value: unknown } | undefined;
    }
);

/** Prepares an entry of `tools`. Never throws and never rejects. */
export async function prepareTool(
  entry: RawEntry,
  file: string,
  versions: ModuleVersions,
): Promise<PreparedTool> {
  const name = nameIn(entry.value);
  try {
    const checked = toolEntry.safeParse(entry.value);
    if (!checked.success) return { name, ...entryFault(checked.error.issues, entry) };
    // Uses the entry as written, because the checked copy may lack keys such as `__proto__`.
    const config = entry.value as ToolEntry;
    const both = spellings.find((pair) => pair.every((key) => config[key] !== undefined));
    const unclear = both === undefined ? whoRuns(config) : bothNames(both);
    if (unclear !== undefined) return { entry: atNamedPart(entry, unclear), name, reason: unclear };
    if (config.module === undefined)
      return {
        entry,
        name,
        definition: createDefinition(settingsOf(config, { external: true })),
        identity: `external\n${canonicalJson(config)}`,
      };
    const path = await resolveModule(config.module, dirname(file));
    if (config.sandbox !== undefined)
      return { entry, name, ...(await sandboxed(config, path, file)) };
    const module = await importModule(path, versions);
    const identity = `${module.path}\n${module.version}\n${canonicalJson(config)}`;
    return { entry, name, definition: define(config, module), identity };
  } catch (error) {
    // An export may be any value, including one that throws when it is read.
    if (error instanceof ModuleFault)
      return { entry, name, reason: error.message, thrown: error.thrown };
    if (isMisuseError(error))
      return { entry: atNamedPart(entry, error.message), name, reason: error.message };
    return {
      entry,
      name,
      reason: `its export cannot be used: ${causeText(error)}`,
      thrown: { value: error },
    };
  }
}

/** Why an entry does not say what runs the tool; undefined if it does. */
function whoRuns(config: ToolEntry): string | undefined {
  const { external, module } = config;
  for (const [one, other] of notExternal)
    if (config[one] !== undefined && config[other] !== undefined)
      return `\`${other}\` is for tools that run here; leave it out, or leave out \`${one}\``;
  return external === undefined && module === undefined
    ? 'expected `module`, or `external: true` for a tool that somebody else runs, got neither'
    : undefined;
}

/**
 * Makes the definition of a tool in a sandbox. Its module is not imported here: only a sandbox may
 * run its code.
 */
async function sandboxed(
  config: ToolEntry,
  module: string,
  file: string,
): Promise<{ readonly definition: AnyTool; readonly identity: string }> {
  const { executorFor } = await import('./sandbox-entry.ts');
  const executor = executorFor(config.sandbox as SandboxEntry, {
    file,
    module,
    tool: config.name,
    function: config.function,
  });
  return {
    definition: createDefinition(settingsOf(config, { executor })),
    identity: `${module}\n${await versionOf(module)}\n${canonicalJson(config)}`,
  };
}

/** The settings of a definition, as an entry has them. */
function settingsOf(
  config: ToolEntry,
  runner:
    | { readonly handler: unknown }
    | { readonly executor: unknown }
    | { readonly external: true },
): Parameters<typeof createDefinition>[0] {
  const { module: _, function: __, external: ___, sandbox: ____, ...settings } = config;
  const { timeout, timeoutMs, requires_approval: asks, ...rest } = settings;
  return {
    ...(rest.inputSchema === undefined ? { parameters: { type: 'object' } } : {}),
    ...rest,
    ...runner,
    timeoutMs: timeoutMsOf({ timeout, timeoutMs }),
    ...(asks === undefined ? {} : { requiresApproval: asks }),
  };
}

/** Makes the definition from an export. @throws ModuleFault, MisuseError */
function define(config: ToolEntry, module: ImportedModule): AnyTool {
  const [exported, value] = exportFor(config.name, config.function, module);
  const kind = kindOf(value);
  // This throws an error that gives the reason.
  if (kind === 'foreign') inspectTool(value);
  if (kind === 'definition') return standing(config, exported, value as AnyTool);
  if (typeof value !== 'function')
    throw new ModuleFault(
      `expected the export \`${exported}\` of ${module.path} to be a function or a ` +
        `definition, got ${describe(value)}`,
    );
  return createDefinition(settingsOf(config, { handler: value }));
}

/**
 * Accepts a finished definition. It has all its settings, so further settings in the entry are
 * refused; otherwise they would be silently ignored.
 */
function standing(config: ToolEntry, exported: string, definition: AnyTool): AnyTool {
  const beside = Object.keys(config).filter(
    (key) => key !== 'name' && key !== 'module' && key !== 'function',
  );
  if (beside.length > 0)
    throw new ModuleFault(
      `the export \`${exported}\` is a finished definition: leave out ${beside.join(', ')}, ` +
        'or export only the handler',
    );
  if (definition.name !== config.name)
    throw new ModuleFault(
      `the export \`${exported}\` is the definition of \`${definition.name}\`: write \`name: ` +
        `${definition.name}\``,
    );
  return definition;
}

function exportFor(
  name: string,
  chosen: string | undefined,
  { path, exports }: ImportedModule,
): readonly [string, unknown] {
  const wanted = chosen ?? (exports.has(name) ? name : 'default');
  if (exports.has(wanted)) return [wanted, exports.get(wanted)];
  const names = [...exports.keys()];
  const [nearest] = nearestNames(chosen ?? name, names, 1);
  const expected = chosen === undefined ? `\`${name}\` or default` : `\`${chosen}\``;
  const hint = nearest === undefined ? '' : `, did you mean \`function: ${nearest}\`?`;
  throw new ModuleFault(
    `${path} does not export ${expected}${hint} (it exports ` +
      `${names.length === 0 ? 'nothing' : names.slice(0, 20).join(', ')})`,
  );
}

function nameIn(value: unknown): string | undefined {
  const name =
    typeof value === 'object' && value !== null && Object.hasOwn(value, 'name')
      ? (value as { name: unknown }).name
      : undefined;
  return typeof name === 'string' && name !== '' ? name.slice(0, 256) : undefined;
}
