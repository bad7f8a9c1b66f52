/**
 * Makes a tool for the core from a definition that an application has registered. An executor runs
 * its calls. No hint in the definition can relax a check.
 */
import type {
  AnyTool,
  Executor,
  JsonObject,
  JsonValue,
  ToolAnnotations,
  ToolSession,
} from '../../../core.ts';
import { createDefinition, type OutsideOrigin } from '../../../extend.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { learnDeclared } from '../../shared/declared-facts.ts';
import type { RelayedDefinition } from '../ports/documents.ts';

/** Options of {@link defineRelayedTool}. */
export interface RelayedToolOptions {
  /** The tool's source in rules, approvals and events, such as `relay:ABCD2345`. */
  readonly source: string;
  /** The kind of application, as it names itself. It becomes the tool's category. */
  readonly pluginType?: string;
  /** Milliseconds that a call may take, from when it is executed. */
  readonly timeoutMs: number;
  /** Runs the calls. */
  readonly executor: Executor;
  /**
   * Called with each place where the tool is registered, so that a later definition can replace it
   * there.
   * @default a function that does nothing
   */
  readonly onRegistered?: OutsideOrigin['onRegistered'];
}

/**
 * Makes the tool. It is never withdrawn by itself; the code that registers it also removes it.
 * @throws MisuseError `invalid_definition` or `invalid_schema`, but never for a definition from
 * `readDefinitions`
 */
export function defineRelayedTool(
  definition: RelayedDefinition,
  { source, pluginType, timeoutMs, executor, onRegistered = () => {} }: RelayedToolOptions,
): AnyTool {
  const { name, description, parameters, outputSchema, title, annotations } = definition;
  const origin: OutsideOrigin = { source, withdrawn: () => undefined, onRegistered };
  return createDefinition(
    {
      name,
      description,
      parameters,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(title === undefined ? {} : { title }),
      ...(pluginType === undefined ? {} : { category: pluginType }),
      annotations: tightening(annotations),
      tags: ['untrusted'],
      timeoutMs,
      executor,
    },
    { from: origin },
  );
}

/**
 * Keeps only the hints that make a check stricter. `readOnly` and `idempotent` would relax one, and
 * the application is not trusted.
 */
export function tightening(annotations: JsonObject | undefined): ToolAnnotations {
  if (annotations === undefined) return {};
  return {
    ...(annotations.destructive === true ? { destructive: true } : {}),
    ...(annotations.openWorld === true ? { openWorld: true } : {}),
  };
}

// Turns the capabilities that an application declares into facts of its session.

/**
 * Sets the facts `app.capabilities.<type>`: true, or the level if one is declared. Facts of an
 * earlier registration are removed if they are no longer declared.
 */
export function learnApplication(session: ToolSession, capabilities: readonly JsonValue[]): void {
  const declared = new Map<string, JsonValue>();
  for (const one of capabilities) {
    const { type, level } = typeof one === 'string' ? { type: one, level: true } : claimOf(one);
    // If several have the same type, the first one with a level counts.
    if (typeof type === 'string' && (declared.get(type) ?? true) === true)
      declared.set(type, level ?? true);
  }
  learnDeclared(session, 'app.capabilities.', Object.fromEntries(declared));
}

function claimOf(one: JsonValue): { readonly type?: JsonValue; readonly level?: JsonValue } {
  return isJsonObject(one) ? Object.assign(Object.create(null), one) : {};
}
