/** Runs the program of a call. Loaded for the first one. */

import type { CodeFault, CodeOutcome } from '../../api/code.ts';
import { attachPending } from '../../core/call/approval-outcome.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { faultOf } from '../../core/call/invalid-input.ts';
import { shownText } from '../../core/call/shown.ts';
import { randomUUID } from '../../values/crypto.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { type Look, leaseMs } from './agenda.ts';
import type { Journal } from './journal.ts';
import { type Ended, Program } from './program.ts';
import { running } from './refusals.ts';
import type { CodeTools } from './run-code.ts';
import type { CodeSettings } from './settings.ts';

/** Gives what the program returns. Rejects with the error of the call. */
export async function runProgram(
  call: FoundCall,
  source: string,
  settings: CodeSettings,
  { runner, journals }: CodeTools,
): Promise<unknown> {
  const { registry } = call.session;
  const opened = await (await journals())?.open(call, source, settings.journalTtlMs);
  if (opened !== undefined && 'refused' in opened) throw faultOf(opened.refused);
  if (opened !== undefined && 'result' in opened) return recorded(opened.result);
  const program = new Program({
    call,
    source,
    settings,
    runner,
    seed: opened?.seed ?? call.options?.idempotencyKey ?? randomUUID(),
    now: opened?.head.now ?? Math.floor(registry.now()),
    journal: opened?.journal,
  });
  const { journal } = opened ?? {};
  try {
    const ended = await program.run();
    if (journal !== undefined && isOver(ended) && !call.ended)
      call.onEnd((result) => {
        void journal.close(JSON.stringify(result), undefined, program.questions);
      });
    else if (journal !== undefined)
      await journal.close(undefined, lookAt(call, program, journal, ended));
    return outcomeOf(call, program, ended, settings);
  } finally {
    if (program.logs.length > 0) {
      const outcome = call.more.ensureOutcome();
      outcome.metadata = {
        ...outcome.metadata,
        logs: Object.freeze(program.logs.map((line) => shownText(call, line))),
      };
    }
  }
}

/** When a program that has not ended goes on by itself; undefined if only its caller does that. */
function lookAt(
  { session: { registry } }: FoundCall,
  { questions }: Program,
  { isAgain }: Pick<Journal, 'isAgain'>,
  ended: Ended,
): Look | 'void' | undefined {
  const now = registry.now();
  const again = now + leaseMs;
  const kind = typeof ended === 'object' ? kindOf(ended) : ended;
  // Without a question of its own, an answered call runs elsewhere.
  if (kind === 'waiting')
    return {
      at: questions.reduce(
        (at, one) => Math.min(at, one.expiresAt),
        questions[0]?.expiresAt ?? again,
      ),
      waits: true,
    };
  // Its caller was told that nothing ran, unless it has run before.
  if (kind === 'busy') return isAgain ? { at: again, waits: false } : 'void';
  return registry.closed ? { at: now, waits: false } : undefined;
}

/** Whether another run of the program would end in the same way. */
function isOver(ended: Ended): boolean {
  return typeof ended === 'object'
    ? ended.ok || !['waiting', 'busy', 'lost', 'stopped'].includes(ended.fault.kind)
    : ended === 'timeout' || ended === 'diverged';
}

/** What an earlier call under this id has returned. */
function recorded(json: string): unknown {
  const result = JSON.parse(json) as { success: boolean; output?: unknown; error?: ToolError };
  if (result.success) return result.output;
  throw faultOf(result.error as ToolError);
}

function outcomeOf(
  call: FoundCall,
  program: Program,
  ended: Ended,
  settings: CodeSettings,
): unknown {
  if (typeof ended === 'object' && ended.ok) return JSON.parse(ended.value) as unknown;
  const [question] = program.questions;
  if (typeof ended === 'object' && kindOf(ended) === 'waiting') {
    if (question === undefined) throw faultOf(running(undefined));
    attachPending(call, question);
    throw faultOf(pendingError(program.questions));
  }
  throw faultOf(errorOf(ended, settings, program.hasAsked));
}

function kindOf(outcome: CodeOutcome): CodeFault['kind'] | undefined {
  return outcome.ok ? undefined : outcome.fault.kind;
}

/** What a host may show of the questions of a program. */
export function pendingError(questions: Program['questions']): ToolError {
  const approvals = questions.map(({ id, callId, tool, title, program, expiresAt }) => ({
    id,
    callId,
    tool: tool.name,
    title,
    ...(program === undefined ? {} : { line: program.line }),
    expiresAt,
  }));
  const what = approvals.length === 1 ? "a person's approval" : `${approvals.length} approvals`;
  return toolError(
    'approval_pending',
    `The program is waiting for ${what}. It goes on by itself. Do not run it again; continue ` +
      'with other work, or stop and say that it is waiting.',
    { reason: 'approval_required', details: { approvals } },
  );
}

/** The error of a program that has not returned a value, as its model reads it. */
function errorOf(
  ended: Ended,
  { timeoutMs, memoryMb }: CodeSettings,
  hasAsked: boolean,
): ToolError {
  if (ended === 'timeout')
    return toolError(
      'timeout',
      `The program took longer than ${timeoutMs / 1_000} seconds. Its calls may have run.`,
      { reason: 'code_timeout' },
    );
  if (ended === 'diverged')
    return toolError(
      'handler_error',
      'The program did not repeat what it had done before, so it was ended, and nothing new ran.',
      { reason: 'code_diverged' },
    );
  if (typeof ended === 'string' || ended.ok)
    return toolError('executor_lost', 'Another process has taken the program over.', {
      reason: 'code_lost',
    });
  const { kind, message, line } = ended.fault;
  const at = line === undefined ? '' : ` (line ${line})`;
  switch (kind) {
    case 'syntax':
      return toolError(
        'invalid_input',
        `The program cannot be read${at}: ${message}. ` +
          `${hasAsked ? 'Its calls may have run' : 'Nothing ran'}. It must be JavaScript, ` +
          'without types and without `import`.',
        { reason: 'code_syntax', ...details(line) },
      );
    case 'thrown':
      return toolError('handler_error', `The program failed${at}: ${message}`, {
        reason: 'code_error',
        ...details(line),
      });
    case 'value':
      return toolError('invalid_output', `The program ran, and its result is no JSON: ${message}`, {
        reason: 'code_result',
      });
    case 'cpu':
      return toolError('timeout', `${message} Its calls may have run.`, { reason: 'code_cpu' });
    case 'memory':
      return limit(`The program needs more than ${memoryMb} MB${at}.`, line);
    case 'stack':
      return limit(`The program calls its own functions too deeply${at}.`, line);
    case 'flood':
      return limit(message, line);
    case 'busy':
      return toolError('rate_limited', `${message} Nothing ran. Try again later.`, {
        reason: 'code_busy',
      });
    default:
      return toolError('executor_lost', `The program was lost: ${message}`, {
        reason: 'code_lost',
      });
  }
}

function limit(message: string, line: number | undefined): ToolError {
  return toolError('handler_error', `${message} Its calls may have run.`, {
    reason: 'code_limit',
    ...details(line),
  });
}

function details(line: number | undefined): { readonly details?: JsonObject } {
  return line === undefined ? {} : { details: { line } };
}
