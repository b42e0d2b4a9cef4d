/** Questions that people open the program with, and the command that answers each; the help begins with these. */
export const QUESTIONS: readonly { question: string; id: string }[] = [
  { question: 'Why did this rollout fail?', id: 'error.next' },
  { question: 'What changed during the run? Is the reward hacked?', id: 'movement' },
  { question: 'What should I read first?', id: 'triage' },
  { question: 'Which prompts were learned, which forgotten?', id: 'matrix' },
  { question: 'What did each turn change on the disk?', id: 'page.files' },
  { question: 'What does this call do again? Give me a shell there', id: 'replay' },
  { question: 'Which call broke the test?', id: 'replay' },
];
