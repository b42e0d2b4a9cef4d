export default undefined;

export const CronExpressionParser = undefined;
