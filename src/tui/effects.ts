/** What update asks the world to do. */
export type Effect = { type: 'quit' } | { type: 'suspend' } | { type: 'repaint' };
