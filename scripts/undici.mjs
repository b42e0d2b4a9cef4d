// undici as far as the program uses it: its package's own entry brings fetch, WebSocket, caches and mocks, two thirds of its code.

import request from '../node_modules/undici/lib/api/api-request.js';
import Agent from '../node_modules/undici/lib/dispatcher/agent.js';
import Client from '../node_modules/undici/lib/dispatcher/client.js';
import Dispatcher from '../node_modules/undici/lib/dispatcher/dispatcher.js';

Object.assign(Dispatcher.prototype, { request });

export { Agent, Client };
