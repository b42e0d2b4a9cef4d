/** Languages with syntax colours. */
export type CodeLanguage = 'python' | 'bash' | 'javascript' | 'cpp' | 'json';
