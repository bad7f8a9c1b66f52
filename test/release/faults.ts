/** What the owner of the package fills in before a release. */

/** The members that npm's page of the package takes its addresses from. */
const members = ['homepage', 'repository', 'bugs'] as const;

/**
 * Names under which no host is, by RFC 2606 and RFC 6761. The placeholders of package.json use one,
 * so that they claim no address of anybody.
 */
export const reserved =
  /\b(?:example\.(?:com|net|org)|[\w-]+\.(?:example|invalid|localhost|test))\b/i;

/** An address, a short form such as `github:owner/name`, or an address of mail for `bugs`. */
const address =
  /^(?:(?:git\+)?(?:https|ssh):\/\/[^\s<>{}]+|(?:\w+:)?[\w.-]+\/[\w.-]+|[^\s@]+@[^\s@]+)$/;

/**
 * One line for each member of a package.json that a release needs and that is missing or still a
 * placeholder. Empty if it can be published.
 */
export function releaseFaults(manifest: Readonly<Record<string, unknown>>): string[] {
  return members.flatMap((name) => {
    const text = textOf(manifest[name]);
    if (text === undefined)
      return `\`${name}\` is missing: expected an address, got ${JSON.stringify(manifest[name])}.`;
    if (reserved.test(text)) return `\`${name}\` is a placeholder: ${text}`;
    return address.test(text) ? [] : `\`${name}\` is not an address: ${text}`;
  });
}

/** The address of a member, which may be a text or an object with one. */
function textOf(member: unknown): string | undefined {
  const value =
    typeof member === 'object' && member !== null
      ? ((member as { url?: unknown }).url ?? (member as { email?: unknown }).email)
      : member;
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
