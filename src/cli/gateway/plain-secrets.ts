/** Finds what is probably a secret in plain text. The values themselves are never told. */

const leastSecret = 8;
const maxOfName = 60;

/** Whether a value under this name is probably a secret, and not the name of a variable. */
export function looksSecret(name: string, value: string): boolean {
  return (
    /key|token|secret|passw|auth|credential/i.test(name) &&
    value.length >= leastSecret &&
    !value.includes('${')
  );
}

/** The places in arguments that have a secret, such as `args[1]`. */
export function secretArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, at) => {
    const flag = args[at - 1] ?? '';
    const follows = /^--?[a-z]/i.test(flag) && !flag.includes('=') && !arg.startsWith('-');
    return (follows && looksSecret(flag, arg)) || hasSecret(arg) ? [`args[${at}]`] : [];
  });
}

/** Whether it is like `--token=…`, `API_KEY=…`, `--header=Authorization: …`, or an address. */
function hasSecret(text: string, isInner = false): boolean {
  const [, name = '', value = ''] = /^([\w.-]{1,200})(?:=|: ?)(.*)$/s.exec(text) ?? [];
  if (looksSecret(name, value) || secretInAddress(text) !== undefined) return true;
  return !isInner && name.startsWith('-') && hasSecret(value, true);
}

/**
 * What is secret in an address: a password, or a parameter by its name. Undefined for an address
 * without a secret, and for any other text. Not every address has a form that `URL` reads.
 */
export function secretInAddress(text: string): string | undefined {
  const [start, authority = ''] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(text) ?? [];
  if (start === undefined) return undefined;
  const user = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  const colon = user.indexOf(':');
  const password = colon === -1 ? '' : user.slice(colon + 1);
  // A short user without a password is only a name, as in `ssh://git@…`.
  const isSecret = password !== '' || user.length >= leastSecret;
  if (isSecret && !user.includes('${')) return 'its user and password';
  const [, query = ''] = /\?([^#]*)/.exec(text) ?? [];
  for (const [name, value] of new URLSearchParams(query))
    if (looksSecret(name, value)) return `its parameter \`${name.slice(0, maxOfName)}\``;
  return undefined;
}
