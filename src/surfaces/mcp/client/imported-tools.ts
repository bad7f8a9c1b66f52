/** What an import gives its host: the tools of one server, which follow the server. */
import type { AnyTool } from '../../../core.ts';
import type { PinDrift as McpDrift } from '../../shared/pins.ts';
import type { McpImportFailure, McpImportWarning, ServerTools } from './server-tools.ts';
import type { Relisting } from './storms.ts';

/** The result of `importMcpTools`. Its members follow the server. */
export interface ImportedMcpTools {
  /** The source of the tools in rules, approvals and events: `mcp:` and the server's name. */
  readonly source: string;
  /**
   * The accepted definitions, in the server's order, for `registry.registerAll`. Registries that
   * hold one are updated with it.
   */
  readonly tools: readonly AnyTool<unknown>[];
  /** Accepted fingerprints by name. Pass them as `pins` next time. */
  readonly pins: Readonly<Record<string, string>>;
  /** Tools that differ from what was accepted. None of them can be called. */
  readonly drift: readonly McpDrift[];
  /** Tools that cannot be imported at all. */
  readonly failed: readonly McpImportFailure[];
  /** Parts of schemas that only the server checks. Their tools are imported. */
  readonly warnings: readonly McpImportWarning[];
  /**
   * The server's names, cleaned and shortened, of tools that are only for its app (MCP Apps:
   * `_meta.ui.visibility` does not include `"model"`; OpenAI's Apps SDK: `openai/visibility` is
   * `"private"`). They are left out, so no model sees or calls them.
   */
  readonly appOnly: readonly string[];
  /** What the server offers under a name now, for review; undefined if it offers nothing. */
  found(name: string): AnyTool<unknown> | undefined;
  /**
   * Accepts a tool as the server offers it now. Registries that hold the old definition get the new
   * one. If the server no longer offers the tool, its pin is dropped.
   * @param found the fingerprint that was reviewed; any other one is refused
   * @throws MisuseError `unknown_tool`, or `invalid_option` if the definition has changed again
   */
  accept(name: string, found?: string): void;
  /**
   * Lists the server's tools again. This also happens automatically after each new connection and
   * when the server says that its tools changed; repeated notices are answered after a growing
   * pause. Rejects if the server cannot be reached or its listing is refused; then nothing changes.
   */
  refresh(): Promise<void>;
  /**
   * Ends the connection and its child process; running calls end as `executor_lost`. A client that
   * the host connected stays open. Idempotent.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** @param close ends the import */
export function importedTools(
  tools: ServerTools,
  { refresh }: Relisting,
  close: () => Promise<void>,
): ImportedMcpTools {
  const { ledger } = tools;
  return Object.freeze({
    get source() {
      return tools.source as string;
    },
    get tools() {
      return ledger.tools;
    },
    get pins() {
      return ledger.pins;
    },
    get drift() {
      return ledger.drift;
    },
    get failed() {
      return tools.failed;
    },
    get warnings() {
      return tools.warnings;
    },
    get appOnly() {
      return tools.appOnly;
    },
    found: ledger.found,
    accept: (tool: string, found?: string) => ledger.accept(tool, found),
    refresh,
    close,
    [Symbol.asyncDispose]: close,
  });
}
