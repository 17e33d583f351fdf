import { FrazilError, Layout } from "frazil/layout";

export default {
  fetch() {
    const layout = Layout.named("discord");
    const refused = () => {
      try {
        return layout.decode("12x");
      } catch (error) {
        return error instanceof FrazilError && error.code;
      }
    };
    return Response.json({ date: layout.decode("175928847299117063").date, refused: refused() });
  },
};
