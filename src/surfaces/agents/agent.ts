/** What differs between coding agents: their events, their answers, and their tools. */
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import type { ToolRow } from './agent-tools.ts';

/** An event of any agent, in one form. */
export type AgentEvent =
  | {
      /** A tool is about to run. */
      readonly kind: 'before';
      readonly about: CallAbout;
      /** The mode in which the agent asks nobody, whatever a hook answers; undefined otherwise. */
      readonly unasked?: string | undefined;
    }
  | {
      /** The agent is about to ask its user whether a tool may run. */
      readonly kind: 'asks';
      readonly about: CallAbout;
      /** Whether its question is about more than the call, so that no rule can allow it. */
      readonly isWider: boolean;
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
  /** Whether it answers the agent's own question to its user. */
  readonly toQuestion?: boolean;
}

/** One coding agent. */
export interface Agent {
  /** The word of the command line: `claude-code`. */
  readonly name: string;
  /** Its name for people. */
  readonly title: string;
  /** The variable in which it passes the project's folder; undefined if it has none. */
  readonly projectVariable: string | undefined;
  /** The member of its events that names the session. @default 'session_id' */
  readonly sessionMember?: string;
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
  /** How it is made to run a hook. */
  readonly setup: AgentSetup;
}

/** Whose settings they are. */
export interface UserHome {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home. */
  readonly home: string;
}

/** Groups of hooks in an agent's settings, by the names of their events. */
export type HookGroups = Readonly<Record<string, readonly JsonObject[]>>;

/** A folder in which an agent writes, with what it must not write there. */
export interface StateFolder {
  readonly folder: string;
  /**
   * What later sessions run or obey, by the names in the folder: settings, hooks, plugins. In a
   * sandbox, the agent cannot write there.
   */
  readonly guarded: readonly string[];
}

/** The state of an agent in the user's home, as far as a sandbox must know it. */
export interface AgentState extends StateFolder {
  /** Further folders of its state, such as caches. @default none */
  readonly others?: readonly StateFolder[];
  /** Files of its state outside its folders. */
  readonly files: readonly string[];
  /**
   * The same in a project: what sessions there obey, by its path in the project, and what takes its
   * place in a sandbox if it is missing. An empty folder is not listed by git, but some agents do
   * not start with a folder in place of a file. @default none but what is the same for all agents
   */
  readonly inProject?: Readonly<Record<string, 'folder' | 'file'>>;
}

/** How an agent is made to run a hook before its tools. */
export interface AgentSetup {
  /** Its program: `claude`. */
  readonly program: string;
  /** Its tool for commands, which takes a `command`. */
  readonly shell: string;
  /** The user's own file with hooks. Those of a project could be changed by the agent. */
  file(user: UserHome): string;
  /** What to add to it. The first event is that before a tool. @param command The hook's line */
  hooks(command: string): HookGroups;
  /** What its file needs besides the hooks. */
  readonly beside?: JsonObject;
  /** The text of that file, if it is a program rather than settings. @param command The line */
  plugin?(command: string): string;
  /** Where it keeps its own state. */
  state(user: UserHome): AgentState;
  /** What a person does so that the agent runs the hook, in sentences. */
  readonly trust: string;
  /**
   * Files of a project whose `disableAllHooks` turns off the user's hooks once the folder is
   * trusted. Only for an agent whose probe trusts no folder. @default none
   */
  readonly switches?: readonly string[];
  /** How to find out whether the agent runs the hook. */
  readonly probe: AgentProbe;
}

/**
 * How to find out whether an agent runs a hook. `prompt`: it is started with a prompt, and the hook
 * stops that before a model is asked. `app-server`: it lists its hooks itself. `none`: it cannot
 * be found out.
 */
export type AgentProbe =
  | {
      readonly kind: 'prompt';
      readonly args: readonly string[];
      /** Variables, so that nothing is asked of a model if no hook runs. @param url On loopback */
      env(url: string): Readonly<Record<string, string>>;
    }
  | { readonly kind: 'app-server'; readonly args: readonly string[] }
  | { readonly kind: 'none' };

/**
 * The names of coding agents, in a separate file because the help does not need their definitions.
 */
export const agentNames: readonly string[] = [
  ...['claude-code', 'codex', 'copilot-cli', 'cursor', 'gemini-cli', 'opencode', 'qwen-code'],
];
