/**
 * A definition that an application registered, made a tool of the core: its calls go to an
 * executor, and nothing it says of itself loosens a gate.
 */
import type { AnyTool, Executor, JsonObject, ToolAnnotations } from '../../index.ts';
import { createDefinition, type OutsideOrigin } from '../../surface-port.ts';
import type { RelayedDefinition } from '../ports/documents.ts';

/** What a relayed tool is made with. */
export interface RelayedToolOptions {
  /** Who brought it, such as `relay:ABCD2345`: its source for rules, approvals and events. */
  readonly source: string;
  /** The application's own word for what it is; the tool's category. */
  readonly pluginType?: string;
  /** Milliseconds a call may take; the clock starts when it is executed. */
  readonly timeoutMs: number;
  /** Where its calls go. */
  readonly executor: Executor;
  /** Told of each place that takes the tool up: a later definition is put there. @default nobody */
  readonly stands?: OutsideOrigin['stands'];
}

/**
 * Makes the tool. It is never withdrawn by itself: whoever registers it takes it away.
 * @throws MisuseError `invalid_definition` or `invalid_schema`, never for a definition that was
 * read
 */
export function defineRelayedTool(
  definition: RelayedDefinition,
  { source, pluginType, timeoutMs, executor, stands = () => {} }: RelayedToolOptions,
): AnyTool {
  const { name, description, parameters, outputSchema, title, annotations } = definition;
  const origin: OutsideOrigin = { source, withdrawn: () => undefined, stands };
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
    undefined,
    origin,
  );
}

/**
 * Those hints that make a gate stricter. `readOnly` and `idempotent` would loosen one: they are a
 * stranger's word.
 */
export function tightening(annotations: JsonObject | undefined): ToolAnnotations {
  if (annotations === undefined) return {};
  return {
    ...(annotations.destructive === true ? { destructive: true } : {}),
    ...(annotations.openWorld === true ? { openWorld: true } : {}),
  };
}
