/** Whether a reward is named by a file of the user's, and not by the name of a function. */
export const isRewardFile = (reward: string | undefined): reward is string => /\.(?:py|[cm]?js)$/.test(reward ?? '');
