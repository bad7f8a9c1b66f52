/** Marks a tool that should no longer be used. */
import { kind, readOptions, required } from '../../values/options/index.ts';

/** Says that a tool should no longer be used. The tool still works. */
export interface Deprecation {
  /** The version or the date since which it is deprecated. Not blank, at most 100 characters. */
  readonly since: string;
  /** The name of the tool to use instead. At most 1024 characters. @default none */
  readonly use?: string | undefined;
  /** Why, or what to do instead. At most 1000 characters. @default none */
  readonly message?: string | undefined;
}

const bounded = (most: number) =>
  kind<string>(
    `a non-blank string of at most ${most} characters`,
    (value) => typeof value === 'string' && value.trim() !== '' && value.length <= most,
  );
const table = { since: required(bounded(100)), use: bounded(1_024), message: bounded(1_000) };

/** @throws MisuseError `invalid_definition`, which names the tool and the field */
export function readDeprecation(value: object | undefined, where: string): Deprecation | undefined {
  if (value === undefined) return undefined;
  const { since, use, message } = readOptions(where, value, table, {
    code: 'invalid_definition',
    noun: 'field',
    path: 'deprecated',
  });
  return Object.freeze({
    since,
    ...(use === undefined ? {} : { use }),
    ...(message === undefined ? {} : { message }),
  });
}

/** The sentence that models and people read. */
export function deprecationText({ since, use, message }: Deprecation): string {
  const instead = use === undefined ? '' : `; use \`${use}\` instead`;
  const why = message === undefined ? '' : `: ${message.trim().replace(/\.$/, '')}`;
  return `Deprecated since ${since}${instead}${why}.`;
}

/** The description that a model sees. */
export function shownDescription(tool: {
  readonly description: string;
  readonly deprecated?: Deprecation | undefined;
}): string {
  const { description, deprecated } = tool;
  return deprecated === undefined ? description : `${description} ${deprecationText(deprecated)}`;
}
