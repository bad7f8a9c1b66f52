/** The page of the approvals handler. */
import { render } from 'preact';
import { App } from './app.tsx';
import { openInbox } from './inbox.ts';
import { handlerServer } from './inbox-server.ts';
import { tokenOfPage } from './page-token.ts';

render(
  <App inbox={openInbox(handlerServer(tokenOfPage()))} />,
  document.getElementById('page') as HTMLElement,
);
