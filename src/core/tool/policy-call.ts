/** The argument of a tool's own check. */
import type { CallInfo } from '../context.ts';
import type { Allow, Ask, Deny } from '../rules/decision.ts';

/**
 * The argument of a tool's own `check`. `input` and `knobs` are copies: changing them has no
 * effect.
 */
export interface PolicyCall<I, K, S> {
  /** The parsed input, with defaults. */
  readonly input: I;
  /** The tool's settings in the session's profile, parsed. */
  readonly knobs: K;
  /** The session and the call. */
  readonly context: CallInfo<S>;
  /** No objection. */
  allow(): Allow;
  /** Asks for an approval. `prompt` is the question. @default a text that names the tool */
  ask(prompt?: string): Ask;
  /**
   * Denies the call. `reason` is stable and matches `^[a-z][a-z0-9_]*$`. `message` tells the model
   * what to do instead.
   */
  deny(reason: string, message?: string): Deny;
}
