/** Options that several imports have. */
import type { CredentialNeeds, ToolContext } from '../../core.ts';
import { kind, wrongOption } from '../../values/options/index.ts';
import { cleanLine } from './outside-text.ts';

/** An accepted tool, as `host-tools mcp pin` writes it. */
export interface Pin {
  /** The fingerprint of the accepted definition. */
  readonly fingerprint: string;
}

/** Accepted definitions by name, as hosts give them. */
export type GivenPins = Readonly<Record<string, string | Pin>>;

/** @throws MisuseError `invalid_option` for a pin that is no fingerprint */
export function readPins(
  where: string,
  pins: GivenPins | undefined,
): ReadonlyMap<string, string> | undefined {
  if (pins === undefined) return undefined;
  return new Map(
    Object.entries(pins).map(([name, pin]) => {
      // A file of pins holds objects, which may contain more about each tool.
      const fingerprint =
        typeof pin === 'object' && pin !== null && Object.hasOwn(pin, 'fingerprint')
          ? pin.fingerprint
          : pin;
      if (typeof fingerprint !== 'string')
        throw wrongOption(where, `pins["${cleanLine(name, 100)}"]`, 'a fingerprint', pin);
      return [name, fingerprint];
    }),
  );
}

/** The option `credentials` of an import. */
export const oneCredential = kind<CredentialNeeds>(
  'an object with one name',
  (given) => typeof given === 'object' && given !== null && Object.keys(given).length === 1,
);

/**
 * The `Authorization` of the principal.
 * @throws Error if there is none, since nothing is sent in nobody's name
 */
export function authorizationOf({ credentials }: Pick<ToolContext, 'credentials'>): string {
  const [held] = Object.values(credentials as Readonly<Record<string, never>>) as readonly {
    headers(): { readonly Authorization: string };
  }[];
  if (held === undefined) throw new Error('Nothing was sent: the call has no credential.');
  return held.headers().Authorization;
}
