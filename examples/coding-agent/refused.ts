import { type Fail, fail } from '../../src/index.ts';
import { pathFailure } from '../tools/files/policy.ts';

/** Thrown for what a tool will not do; `reason` is stable. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly reason:
    | 'no_root'
    | 'not_text'
    | 'file_too_large'
    | 'file_exists'
    | 'text_not_found'
    | 'text_not_unique'
    | 'invalid_patch'
    | 'patch_does_not_fit';
  constructor(reason: Refused['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A refusal, of a path too, as the tool's failure; anything else goes on as it came. */
export function failure(error: unknown): Fail {
  return error instanceof Refused
    ? fail({ message: error.message, reason: error.reason })
    : pathFailure(error);
}
