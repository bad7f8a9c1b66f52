/** The inspector. */
import { render } from 'preact';
import { takeToken } from '../parts/server.ts';
import { App } from './app.tsx';
import { openStore } from './store.ts';

const store = openStore(takeToken('host-tools-token'));
render(<App store={store} />, document.getElementById('page') as HTMLElement);
