/** A link over a client that the host has connected and will close. */
import type { Link, OpenOptions } from './link.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** Closing the link only removes its listeners; the client stays open. */
export function adoptClient(client: ConnectedMcpClient, { toolsChanged }: OpenOptions): Link {
  const before = client.onclose;
  let lost = client.transport === undefined;
  let released = false;
  const link: Link = {
    client,
    onlost: undefined,
    get lost() {
      return lost;
    },
    // Only the host may close its client. The next call tries it again.
    drop() {},
    close: async () => {
      if (released) return;
      released = true;
      // The host may have set another listener since.
      if (client.onclose === onClose) client.onclose = before;
      client.removeNotificationHandler('notifications/tools/list_changed');
    },
  };
  const onClose = (): void => {
    lost = true;
    link.onlost?.();
    // Last, because it is the host's and may throw.
    before?.();
  };
  client.onclose = onClose;
  client.setNotificationHandler('notifications/tools/list_changed', () => toolsChanged());
  return link;
}
