/**
 * Between an editor and an agent of the Agent Client Protocol: judges what the agent asks, and
 * passes everything else on as it is.
 */
import { randomBytes } from 'node:crypto';
import type { ApprovalAnswer, Approver, ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import {
  authorizeCall,
  type ClientMethod,
  type Described,
  describeRequest,
} from '../../surfaces/acp/agent-calls.ts';
import type { Permission } from '../../surfaces/acp/call-table.ts';
import { createGate, type Gate, type OnUnasked } from '../../surfaces/acp/gate.ts';
import { chosenKind, isChoice, outcomeOf } from '../../surfaces/acp/options.ts';
import type { Place } from '../../surfaces/agents/place.ts';
import { messageOf } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { Line } from './lines.ts';

/** What the proxy needs. */
export interface ProxyParts {
  readonly agent: string;
  readonly place: Place;
  readonly onUnasked: OnUnasked;
  /** Makes the session of a session of the agent. */
  openSession(sessionId: string, cwd: string): ToolSession;
  toEditor(line: string): void;
  toAgent(line: string): void;
  note(text: string): void;
}

/** A session of the agent. */
interface Opened {
  readonly session: ToolSession;
  readonly place: Place;
}

/** Takes the editor's answer to a request; undefined if the editor is gone. */
type Taker = (answer: Line | undefined) => void;

const judged: readonly string[] = ['fs/read_text_file', 'fs/write_text_file', 'terminal/create'];
const ofTerminals = /^terminal\/(?:output|wait_for_exit|kill|release)$/;
const begins = /^session\/(?:new|load|resume|fork)$/;
const maxOpen = 1_000;

export class AcpProxy {
  readonly #parts: ProxyParts;
  readonly #gate: Gate;
  readonly #sessions = new Map<string, Opened>();
  /** The folders of sessions that the editor begins, by the id of its request. */
  readonly #beginning = new Map<string, string>();
  /** Requests to the editor whose answers the proxy takes, by their ids. */
  readonly #asked = new Map<string, Taker>();
  readonly #terminals = new Map<
    string,
    { readonly sessionId: string; readonly call: Permission }
  >();
  /** The ids of the agent's requests that are being judged. */
  readonly #working = new Set<string>();
  readonly #mark = `host-tools-${randomBytes(6).toString('hex')}`;
  #count = 0;
  #isEditorGone = false;

  constructor(parts: ProxyParts) {
    this.#parts = parts;
    this.#gate = createGate({
      agent: parts.agent,
      onUnasked: parts.onUnasked,
      sessionOf: (sessionId) => this.#sessions.get(sessionId)?.session,
      placeOf: (sessionId) => this.#sessions.get(sessionId)?.place ?? parts.place,
      isOwn: () => false,
      stopTurn: (sessionId) => {
        this.#gate.cancel(sessionId);
        parts.toAgent(rpc({ method: 'session/cancel', params: { sessionId } }));
      },
      refused: (tool, reason) => parts.note(`refused \`${tool}\`: ${reason}`),
    });
  }

  fromEditor(line: Line): void {
    const { text, message } = line;
    if (message === undefined) return this.#drop(line, 'editor');
    const { id, method, params } = message;
    if (method === undefined) {
      const take = this.#asked.get(keyOf(id));
      if (take === undefined) return this.#parts.toAgent(text);
      this.#asked.delete(keyOf(id));
      return take(line);
    }
    const about = isJsonObject(params) ? params : {};
    const { sessionId, cwd } = about;
    if (typeof method === 'string' && begins.test(method) && this.#beginning.size < maxOpen) {
      const folder = typeof cwd === 'string' ? cwd : this.#parts.place.cwd;
      this.#beginning.set(keyOf(id), folder);
      if (typeof sessionId === 'string' && method !== 'session/fork') this.#open(sessionId, folder);
    }
    if (typeof sessionId === 'string' && method === 'session/cancel') this.#gate.cancel(sessionId);
    if (typeof sessionId === 'string' && method === 'session/prompt')
      for (const said of textsOf(about.prompt)) this.#sessions.get(sessionId)?.session.said(said);
    this.#parts.toAgent(text);
  }

  fromAgent(line: Line): void {
    const { text, message } = line;
    if (message === undefined) return this.#drop(line, 'agent');
    const { id, method, params, result } = message;
    if (method === undefined) {
      const folder = this.#beginning.get(keyOf(id));
      this.#beginning.delete(keyOf(id));
      if (folder !== undefined && isJsonObject(result) && typeof result.sessionId === 'string')
        this.#open(result.sessionId, folder);
      return this.#parts.toEditor(text);
    }
    const about = isJsonObject(params) ? params : {};
    const name = String(method);
    const isJudged = judged.includes(name);
    // The answer to one of them would count for the other.
    if (id !== undefined && (this.#working.has(keyOf(id)) || this.#asked.has(keyOf(id))))
      return this.#refuse(id, 'Another request has this id.');
    if (name === 'session/request_permission' || isJudged || ofTerminals.test(name)) {
      if (id === undefined) return this.#drop(line, 'agent');
      if (Math.max(this.#asked.size, this.#working.size) >= maxOpen)
        return this.#refuse(id, 'Too many requests are open.');
      const key = keyOf(id);
      this.#working.add(key);
      const work =
        name === 'session/request_permission'
          ? this.#permission(line, id, about)
          : isJudged
            ? this.#judge(line, id, name as ClientMethod, about)
            : this.#terminal(line, id, name, about);
      return void work
        .catch((error: unknown) => this.#refuse(id, messageOf(error)))
        .finally(() => this.#working.delete(key));
    }
    if (name === 'session/update') this.#gate.heard(String(about.sessionId), about.update);
    this.#parts.toEditor(text);
  }

  /** Resolves once few calls are being recorded: the agent may tell of them faster. */
  room(): Promise<void> {
    return this.#gate.room();
  }

  /** Nobody answers any more. */
  editorGone(): void {
    this.#isEditorGone = true;
    for (const take of [...this.#asked.values()]) take(undefined);
    this.#asked.clear();
  }

  /** Releases the terminals that a dead agent has left, and ends what is open. */
  async agentGone(): Promise<void> {
    for (const [terminalId, { sessionId, call }] of this.#terminals) {
      const id = this.#newId();
      // Its answer has no reader.
      this.#asked.set(keyOf(id), () => undefined);
      this.#parts.toEditor(
        rpc({ id, method: 'terminal/release', params: { sessionId, terminalId } }),
      );
      await call.settle({ error: 'The agent ended before its command.' });
    }
    this.#terminals.clear();
    await this.#gate.leave();
    for (const { session } of this.#sessions.values()) await session.close();
  }

  async #permission({ text }: Line, id: JsonValue, params: JsonObject): Promise<void> {
    const { sessionId, toolCall, options } = params;
    const stop = new AbortController();
    const approver: Approver = async (_, { signal }) => {
      const answer = await this.#ask(id, text, signal);
      const kind = chosenKind(options, answer?.message?.result);
      if (isChoice(kind)) return { decision: kind, by: 'the editor' };
      stop.abort();
      return 'reject_once';
    };
    const verdict = await this.#gate.ask({
      ...{ sessionId: String(sessionId), toolCall, options, approver },
      signal: stop.signal,
    });
    this.#parts.toAgent(rpc({ id, result: { ...outcomeOf(options, verdict) } }));
  }

  async #judge(line: Line, id: JsonValue, method: ClientMethod, params: JsonObject): Promise<void> {
    const opened = this.#sessions.get(String(params.sessionId));
    if (opened === undefined) return this.#refuse(id, 'The session is not known.');
    if (method === 'terminal/create' && this.#terminals.size >= maxOpen)
      return this.#refuse(id, 'Too many terminals are open. Release some first.');
    const { session, place } = opened;
    const described = describeRequest(method, params);
    const callId = inspectSession(session).newCallId();
    const stop = new AbortController();
    const permission = await authorizeCall(session, described, place, {
      callId,
      signal: stop.signal,
      surface: {
        name: 'acp',
        // Where no rule asks, the editor decides itself what it does with the request.
        approver: ({ ruleId, title }, { signal }) =>
          ruleId === undefined
            ? { decision: 'allow_once', by: 'the editor' }
            : this.#question(String(params.sessionId), callId, described, title, signal),
      },
    });
    if (typeof permission === 'string') return this.#refuse(id, permission);
    if (!permission.allowed)
      return this.#refuse(id, permission.result.error?.message ?? 'The call was refused.');
    const answer = await this.#ask(id, line.text, stop.signal);
    if (answer === undefined) {
      await permission.settle({ error: 'The editor has gone.' });
      return this.#refuse(id, 'The editor has gone.');
    }
    const { result, error } = answer.message ?? {};
    const terminalId = isJsonObject(result) ? result.terminalId : undefined;
    if (method === 'terminal/create' && typeof terminalId === 'string' && terminalId !== '')
      this.#terminals.set(terminalId, { sessionId: String(params.sessionId), call: permission });
    else if (error === undefined) await permission.settle({ output: result ?? null });
    else await permission.settle({ error: textOfError(error) });
    this.#parts.toAgent(answer.text);
  }

  async #terminal(line: Line, id: JsonValue, method: string, params: JsonObject): Promise<void> {
    const { sessionId, terminalId } = params;
    const terminal = this.#terminals.get(String(terminalId));
    if (terminal === undefined || terminal.sessionId !== sessionId)
      return this.#refuse(id, 'There is no such terminal in this session.');
    if (method === 'terminal/kill' || method === 'terminal/output')
      return this.#parts.toEditor(line.text);
    const answer = await this.#ask(id, line.text, new AbortController().signal);
    const result = answer?.message?.result;
    if (method === 'terminal/release') this.#terminals.delete(String(terminalId));
    if (method === 'terminal/release' || result !== undefined)
      await terminal.call.settle({
        output: method === 'terminal/release' ? null : (result ?? null),
      });
    if (answer !== undefined) this.#parts.toAgent(answer.text);
  }

  /** Asks the editor's user about a request that the protocol does not ask about. */
  async #question(
    sessionId: string,
    toolCallId: string,
    { tool, input }: Described,
    title: string,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> {
    const id = this.#newId();
    const options = [
      { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    ];
    const toolCall = { toolCallId, title, kind: kindOf(tool), status: 'pending', rawInput: input };
    const params = { sessionId, toolCall, options };
    const request = rpc({ id, method: 'session/request_permission', params });
    const kind = chosenKind(options, (await this.#ask(id, request, signal))?.message?.result);
    return { decision: kind === 'allow_once' ? kind : 'reject_once', by: 'the editor' };
  }

  /** Sends a request to the editor. Undefined if there is no answer any more. */
  #ask(id: JsonValue, text: string, signal: AbortSignal): Promise<Line | undefined> {
    if (this.#isEditorGone || signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const late = (): void => {
        // An answer that comes later has no reader.
        this.#asked.set(keyOf(id), () => undefined);
        resolve(undefined);
      };
      signal.addEventListener('abort', late, { once: true });
      this.#asked.set(keyOf(id), (answer) => {
        signal.removeEventListener('abort', late);
        resolve(answer);
      });
      this.#parts.toEditor(text);
    });
  }

  #open(sessionId: string, folder: string): void {
    if (this.#sessions.has(sessionId) || this.#sessions.size >= maxOpen) return;
    const place = { ...this.#parts.place, cwd: folder, project: folder };
    this.#sessions.set(sessionId, { session: this.#parts.openSession(sessionId, folder), place });
  }

  #drop({ text }: Line, who: 'agent' | 'editor'): void {
    if (text.trim() === '') return;
    this.#parts.note(`dropped a line of the ${who} that is not one clear message.`);
    const error = { code: -32_600, message: 'Expected one message with each key once.' };
    const answer = rpc({ id: null, error });
    if (who === 'agent') this.#parts.toAgent(answer);
    else this.#parts.toEditor(answer);
  }

  #refuse(id: JsonValue, reason: string): void {
    this.#parts.toAgent(rpc({ id, error: { code: -32_602, message: reason.toWellFormed() } }));
  }

  #newId(): string {
    return `${this.#mark}-${++this.#count}`;
  }
}

function rpc(message: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', ...message });
}

function keyOf(id: JsonValue | undefined): string {
  return JSON.stringify(id ?? null);
}

function kindOf(tool: string): string {
  if (tool === 'terminal.create') return 'execute';
  return tool === 'fs.read_text_file' ? 'read' : 'edit';
}

function textOfError(error: JsonValue): string {
  const message = isJsonObject(error) ? error.message : undefined;
  return typeof message === 'string' && message.trim() !== '' ? message : 'It failed.';
}

function textsOf(prompt: JsonValue | undefined): readonly string[] {
  const blocks = Array.isArray(prompt) ? (prompt as readonly JsonValue[]).filter(isJsonObject) : [];
  return blocks.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}
