/** What differs between coding agents: their events, their answers, and their tools. */
import type { JsonObject, JsonValue } from '../../json/index.ts';
import type { ToolRow } from './agent-tools.ts';

/** An event of any agent, in one form. */
export type AgentEvent =
  | {
      /** A tool is about to run. */
      readonly kind: 'before';
      readonly about: CallAbout;
    }
  | {
      /** A tool has run. */
      readonly kind: 'after';
      readonly about: CallAbout;
      readonly output: JsonValue;
      /** Why it failed; undefined if it did not. */
      readonly error: string | undefined;
    }
  | {
      /** The user has written something. */
      readonly kind: 'said';
      readonly text: string;
    }
  | {
      /** Something else, which needs no decision. */
      readonly kind: 'other';
    };

/** The call of an event. */
export interface CallAbout {
  readonly tool: string;
  readonly input: JsonObject;
  /** The agent's id of the call; undefined if it gives none. */
  readonly id: string | undefined;
}

/** The decision about a call. */
export interface Answer {
  /** `none`: there is no decision, and the agent behaves as usual. */
  readonly effect: 'allow' | 'ask' | 'deny' | 'none';
  /** For the model and the person. */
  readonly reason: string;
}

/** One coding agent. */
export interface Agent {
  /** The word of the command line: `claude-code`. */
  readonly name: string;
  /** Its name for people. */
  readonly title: string;
  /** The variable in which it passes the project's folder; undefined if it has none. */
  readonly projectVariable: string | undefined;
  /** Whether a hook can make it ask a person. If not, such calls are denied. */
  readonly canAsk: boolean;
  /** Reads the agent-specific part of an event. @throws HookFault */
  read(name: string, event: JsonObject): AgentEvent;
  /** The text for its standard input. */
  write(answer: Answer): JsonObject;
  /** The agent's own tools. */
  readonly tools: readonly ToolRow[];
  /** The names that it gives the tools of MCP servers. */
  readonly mcpNames: RegExp;
  /** Where the settings go, and what to add to them. @param command The hook's command line */
  settings(command: string): { readonly file: string; readonly text: string };
}
