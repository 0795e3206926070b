// Runs the sequences of a manifest with irrun, in Spark's workers; spark_pipe.py in Java.
//
//     javac -cp "$SPARK_HOME/jars/*" SparkPipe.java && jar cf pipe.jar SparkPipe.class
//     spark-submit --class SparkPipe pipe.jar model.xml calls.manifest [PARTITIONS]
//
// SPDX-License-Identifier: Apache-2.0
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

public class SparkPipe {
    public static void main(String[] args) {
        try (JavaSparkContext context = new JavaSparkContext()) {
            int partitions = args.length > 2 ? Integer.parseInt(args[2]) : 2;
            JavaRDD<String> lines = context.textFile(args[1], partitions);
            // if irrun fails, so does the task, and Spark runs it again elsewhere
            lines.pipe("irrun " + args[0] + " --manifest=- --skip-existing --quiet").count();
            System.out.println(lines.count() + " sequences in " + lines.getNumPartitions() + " partitions");
        }
    }
}
